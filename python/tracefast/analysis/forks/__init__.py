"""`forks`: the created tasks, what creating them costs, and what to change."""
