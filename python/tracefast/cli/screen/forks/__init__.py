"""What `tracefast forks` prints."""
