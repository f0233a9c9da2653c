"""JSON, a line a record."""
