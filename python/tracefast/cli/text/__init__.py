"""Text for a terminal: escaped, aligned, with numbers in units that fit."""
