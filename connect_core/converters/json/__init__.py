"""JSON messages, with or without schemas."""

from connect_core.converters.json.converter import JsonConverter

__all__ = ["JsonConverter"]
