"""Documents: which of their text is to be translated, and how it is put back."""
