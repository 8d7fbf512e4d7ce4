"""Charts and histograms that commands draw instead of printing their tables."""
