"""Tables with a row per window of time."""
