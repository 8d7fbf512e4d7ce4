"""The commands of `tracefast`, one module each."""
