"""What a command line says: options, the time window, the request that they make."""
