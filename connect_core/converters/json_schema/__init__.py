"""JSON messages with their JSON Schema in a registry."""

from connect_core.converters.json_schema.converter import JsonSchemaConverter

__all__ = ["JsonSchemaConverter"]
