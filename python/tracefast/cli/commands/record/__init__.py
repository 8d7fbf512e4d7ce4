"""`tracefast record`: run a program, and show what it did."""
