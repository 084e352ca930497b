"""The search for a translation, over any model that keeps the contract."""
