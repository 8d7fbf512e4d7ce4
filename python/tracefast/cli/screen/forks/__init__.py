"""Print what `tracefast forks` finds."""
