"""Pictures: graphs, and where their nodes go."""
