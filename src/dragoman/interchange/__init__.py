"""Models of other programs, in and out."""
