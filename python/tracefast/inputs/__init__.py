"""The files and streams that are read: their names, formats, and duplicates."""
