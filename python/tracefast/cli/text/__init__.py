"""Text for people: escaped, aligned, shortened, with numbers in units that fit."""
