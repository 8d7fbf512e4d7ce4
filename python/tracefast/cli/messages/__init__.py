"""What is said on standard error: errors, hints, warnings, progress."""
