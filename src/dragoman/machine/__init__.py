"""What this machine is, as its system tells it."""
