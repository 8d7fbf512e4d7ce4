"""Text for people: safe to print, short, aligned."""
