"""What `tracefast hooks` prints."""
