"""What several tests share. `pythonpath` of pyproject.toml makes it importable as `support`."""
