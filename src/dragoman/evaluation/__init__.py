"""How good translations are, and how sure one can be of it."""
