"""Text of events, made up by the formats that a kernel has for them."""

import gzip
import random
import re

from support.paths import DATA

FORMATS = DATA / "events" / "formats.tsv.gz"

_CONVERSION = re.compile(
    r"%(?P<flags>[-#0+ ]*)(?P<width>\d+|\*)?(?:\.(?P<precision>\d+|\*))?"
    r"(?P<size>hh|h|ll|l|z|L)?(?P<letter>p\w*|[diouxXsc%])"
)


def formats() -> dict[str, str]:
    """Give the format of every event of a kernel, except system calls."""
    lines = gzip.decompress(FORMATS.read_bytes()).decode().splitlines()
    pairs = (line.split("\t", 1) for line in lines)
    return {name: text.encode().decode("unicode_escape") for name, text in pairs}


def render(text: str, chance: random.Random, *, small: bool = False) -> str:
    """Print made-up values by a format; if they are to be small, numbers are 0 and 1 only."""
    return _CONVERSION.sub(lambda found: _value(found, chance, small=small), text)


def _value(found: re.Match[str], chance: random.Random, *, small: bool) -> str:
    letter, flags = found["letter"], found["flags"]
    if letter == "%":
        return "%"
    number = chance.choice([0, 1] if small else [0, 1, 7, 250, chance.randrange(1 << 15)])
    if letter in "diu":
        value = str(number)
    elif letter in "xX":
        value = f"{number:x}"
        value = "0x" + value if "#" in flags else value
    elif letter == "o":
        value = f"{number:o}"
    elif letter[0] == "p":
        value = {
            "pS": "a_function+0x1c/0x40",
            "ps": "a_function",
            "pI4": "127.0.0.1",
            "pI6c": "::1",
            "pISpc": "127.0.0.1:80",
            "pU": "01234567-89ab-cdef-0123-456789abcdef",
        }.get(letter, f"{chance.randrange(1 << 32):016x}")
    else:
        # What is a truth, a state, a class and a name at once.
        value = "true"[: None if letter == "s" else 1]
    width = int(found["width"]) if (found["width"] or "").isdigit() else 0
    if "-" in flags:
        return value.ljust(width)
    return value.zfill(width) if "0" in flags else value.rjust(width)
