"""What the system gives a command: its streams, and signals that ask it to stop."""
