"""What runs a model: tokens in, translations in tokens out."""
