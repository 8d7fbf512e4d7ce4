"""Names, formats and duplicates of the files that are read."""
