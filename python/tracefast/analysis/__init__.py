"""The questions: one module per table, each a function from events to a LazyFrame.

Every function takes the events of a log, of a Parquet file, or what the user left of them, and
none of them knows which.
"""
