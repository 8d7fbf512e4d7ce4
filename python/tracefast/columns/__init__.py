"""What the columns of the events and of every table are: name, type, unit, meaning.

One module per table. `make pages` writes the lists of columns in docstrings and in the
documentation from it, `tracefast schema` prints it.
"""
