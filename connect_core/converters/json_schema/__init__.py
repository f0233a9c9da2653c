"""JSON messages whose JSON Schema a registry keeps."""

from connect_core.converters.json_schema.converter import JsonSchemaConverter

__all__ = ["JsonSchemaConverter"]
