"""`tracefast files`: files, the accesses of one file, the page cache."""
