"""Conversion between Avro's schemas and Connect's."""
