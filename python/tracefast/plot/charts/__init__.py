"""The charts: for each its bounded rows, and how they are drawn."""
