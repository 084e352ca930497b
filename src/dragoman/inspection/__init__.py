"""Looking inside a model while it works."""
