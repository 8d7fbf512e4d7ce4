"""The border to polars: pushed-down filters, source threads, column types, folds."""
