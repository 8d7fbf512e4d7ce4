"""Requests to block devices, and the files whose pages they moved."""
