"""The analyses: one module or folder per table, each a function from events to a LazyFrame.

A function takes the events of a log, of a Parquet file, or of a frame that the user filtered, and
does not know which.
"""
