"""What the columns of events and tables mean, and suggestions for misspelt ones."""
