"""The installed command: started many times, on a terminal, on pipes, interrupted."""
