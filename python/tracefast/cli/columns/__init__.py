"""What columns mean, and which one was meant."""
