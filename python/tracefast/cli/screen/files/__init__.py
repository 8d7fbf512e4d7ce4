"""Print what `tracefast files` finds."""
