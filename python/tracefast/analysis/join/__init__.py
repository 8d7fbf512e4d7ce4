"""`join`: strace's calls with what the kernel did in each, from ftrace's log of the same run."""
