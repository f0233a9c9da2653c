"""A folder of its own for the file that is parsed."""
