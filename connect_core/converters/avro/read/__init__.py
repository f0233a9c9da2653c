"""Avro bodies as Connect data, one at a time and in columns."""
