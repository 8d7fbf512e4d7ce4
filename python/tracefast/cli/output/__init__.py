"""Write results: in the form that was asked for, to a terminal, a pipe or a file."""
