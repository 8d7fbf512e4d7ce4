"""Pages of HTML that load nothing: the report of a log, and single charts."""
