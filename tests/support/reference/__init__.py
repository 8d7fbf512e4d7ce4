"""Slow, obvious versions of what tracefast does fast: the tests compare the two."""
