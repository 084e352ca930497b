"""Language models at work: text in, text, words or vectors out."""
