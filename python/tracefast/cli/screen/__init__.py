"""What commands print: tables and reports."""
