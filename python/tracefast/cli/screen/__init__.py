"""Print tables and reports."""
