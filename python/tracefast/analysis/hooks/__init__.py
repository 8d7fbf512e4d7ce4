"""Where the kernel lets you watch the system calls of a log, and scripts that do."""
