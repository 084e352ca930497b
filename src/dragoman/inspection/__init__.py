"""Looking inside a model while it works; `inspect.py` is the way in."""
