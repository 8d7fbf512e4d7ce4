"""A log in which one call of many is split over two lines."""


def split_log(end: str) -> str:
    """Write a log of twenty calls, whose lines end in `end`, beside a sleep of 0.2 s."""
    lines = ["1 1700000000.000000 clock_nanosleep(CLOCK_REALTIME, 0, <unfinished ...>"]
    lines += [f"2 1700000000.{at:03}000 getpid() = 2{end}" for at in range(1, 21)]
    resumed = end.replace("0.000010", "0.200000")
    lines += [f"1 1700000000.200000 <... clock_nanosleep resumed> {{tv_sec=0}}, NULL) = 0{resumed}"]
    return "".join(f"{line}\n" for line in lines)
