"""Where polars meets the parser: filters, threads, types, folds."""
