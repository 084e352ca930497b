"""`dragoman doctor`: what this machine is, what will be used of it, and how fast."""
