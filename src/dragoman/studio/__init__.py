"""The studio: a local page that shows a translator at work, and lets one act on it."""
