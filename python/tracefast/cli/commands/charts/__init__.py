"""What commands show instead of their tables: charts, histograms, windows of time."""
