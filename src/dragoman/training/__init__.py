"""How the weights are learned."""
