"""One file for each experiment: its question, its prediction and its measurement."""
