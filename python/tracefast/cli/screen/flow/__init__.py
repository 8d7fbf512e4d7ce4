"""Print where data went."""
