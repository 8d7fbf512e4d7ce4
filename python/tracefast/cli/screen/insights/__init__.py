"""What `tracefast insights` prints in text."""
