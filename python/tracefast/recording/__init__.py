"""Record a program: run strace, or the kernel's tracefs, and turn what it writes into events."""
