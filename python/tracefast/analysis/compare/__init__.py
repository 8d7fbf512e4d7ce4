"""Runs compared with each other, and with limits."""
