"""The panels of a report, in their order."""
