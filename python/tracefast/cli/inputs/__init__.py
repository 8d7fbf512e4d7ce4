"""Read the events that a command works on."""
