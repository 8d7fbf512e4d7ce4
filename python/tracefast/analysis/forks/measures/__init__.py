"""The figures from which the summary of forks and the advice are made."""
