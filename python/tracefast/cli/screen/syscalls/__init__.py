"""What `tracefast syscalls` prints."""
