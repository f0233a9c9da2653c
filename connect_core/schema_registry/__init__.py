"""Schemas that a schema registry keeps: what one answers, and which schema a message names."""
