"""JSON, one line per record."""
