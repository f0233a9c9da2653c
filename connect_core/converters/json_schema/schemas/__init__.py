"""JSON Schema and Connect's schemas, both ways."""
