"""What a log shows at a first look, in one pass over its events."""
