"""The analyses: one module or folder per table, each a function from events to a LazyFrame.

A function does not know whether its events are those of a log, of a Parquet file, or of a frame
that the user filtered.
"""
