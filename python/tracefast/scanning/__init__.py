"""Logs, Parquet and Arrow IPC as lazy frames of events, whole or a window of time."""
