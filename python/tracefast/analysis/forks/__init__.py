"""The table of created tasks, what starting them costs, and what to change."""
