"""What `tracefast files` prints."""
