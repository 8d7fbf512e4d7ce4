"""Print what `tracefast syscalls` finds."""
