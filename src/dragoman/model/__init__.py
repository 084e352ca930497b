"""The network, in the paper's order and words."""
