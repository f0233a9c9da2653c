"""The schemas of the primitive types, required and optional. Connect: ``Schema``."""

from __future__ import annotations

from connect_core.api.data.schema import Schema, SchemaType

__all__ = [
    "BOOLEAN_SCHEMA",
    "BYTES_SCHEMA",
    "FLOAT32_SCHEMA",
    "FLOAT64_SCHEMA",
    "INT8_SCHEMA",
    "INT16_SCHEMA",
    "INT32_SCHEMA",
    "INT64_SCHEMA",
    "OPTIONAL_BOOLEAN_SCHEMA",
    "OPTIONAL_BYTES_SCHEMA",
    "OPTIONAL_FLOAT32_SCHEMA",
    "OPTIONAL_FLOAT64_SCHEMA",
    "OPTIONAL_INT8_SCHEMA",
    "OPTIONAL_INT16_SCHEMA",
    "OPTIONAL_INT32_SCHEMA",
    "OPTIONAL_INT64_SCHEMA",
    "OPTIONAL_STRING_SCHEMA",
    "STRING_SCHEMA",
]

INT8_SCHEMA = Schema(SchemaType.INT8)
INT16_SCHEMA = Schema(SchemaType.INT16)
INT32_SCHEMA = Schema(SchemaType.INT32)
INT64_SCHEMA = Schema(SchemaType.INT64)
FLOAT32_SCHEMA = Schema(SchemaType.FLOAT32)
FLOAT64_SCHEMA = Schema(SchemaType.FLOAT64)
BOOLEAN_SCHEMA = Schema(SchemaType.BOOLEAN)
STRING_SCHEMA = Schema(SchemaType.STRING)
BYTES_SCHEMA = Schema(SchemaType.BYTES)
OPTIONAL_INT8_SCHEMA = Schema(SchemaType.INT8, optional=True)
OPTIONAL_INT16_SCHEMA = Schema(SchemaType.INT16, optional=True)
OPTIONAL_INT32_SCHEMA = Schema(SchemaType.INT32, optional=True)
OPTIONAL_INT64_SCHEMA = Schema(SchemaType.INT64, optional=True)
OPTIONAL_FLOAT32_SCHEMA = Schema(SchemaType.FLOAT32, optional=True)
OPTIONAL_FLOAT64_SCHEMA = Schema(SchemaType.FLOAT64, optional=True)
OPTIONAL_BOOLEAN_SCHEMA = Schema(SchemaType.BOOLEAN, optional=True)
OPTIONAL_STRING_SCHEMA = Schema(SchemaType.STRING, optional=True)
OPTIONAL_BYTES_SCHEMA = Schema(SchemaType.BYTES, optional=True)
