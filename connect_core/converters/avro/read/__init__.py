"""Avro bodies to Connect data, one at a time and in columns."""
