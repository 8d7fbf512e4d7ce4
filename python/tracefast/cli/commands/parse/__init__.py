"""`tracefast parse`: all logs into one file, or each into its own."""
