"""Who waits for whom: waits, those who can never go on, and pairs of waiter and waker."""

from typing import Final

MIN_NS: Final = 1_000_000
"""Shorter waits that ended are no rows, unless asked for."""
