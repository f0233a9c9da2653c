"""Conversion between JSON Schema and Connect's schemas."""
