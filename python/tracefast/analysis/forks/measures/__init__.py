"""Figures that the summary of forks and its advice are made of."""
