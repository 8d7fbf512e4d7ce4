"""Rules about how files are used."""
