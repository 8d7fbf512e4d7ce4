"""The figures behind the summary of forks and its advice."""
