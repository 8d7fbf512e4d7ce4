"""Draw the flow of data: alike files and processes are one node."""
