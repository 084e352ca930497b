"""Corpora and their formats, cleaning, and tokenizers; sees no tensors."""
