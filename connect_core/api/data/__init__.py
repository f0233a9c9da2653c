"""Connect's data model: schemas, values and conversions between them."""

from connect_core.api.data.builder import SchemaBuilder
from connect_core.api.data.inference import infer_schema
from connect_core.api.data.logical import Date, Decimal, Time, Timestamp
from connect_core.api.data.parsing import parse_string
from connect_core.api.data.primitives import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_BOOLEAN_SCHEMA,
    OPTIONAL_BYTES_SCHEMA,
    OPTIONAL_FLOAT32_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    OPTIONAL_INT8_SCHEMA,
    OPTIONAL_INT16_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
)
from connect_core.api.data.projector import project
from connect_core.api.data.schema import Field, Schema, SchemaType
from connect_core.api.data.schema_and_value import SchemaAndValue
from connect_core.api.data.struct import Struct
from connect_core.api.data.validation import validate_value
from connect_core.java.instant import Instant
from connect_core.java.numbers import (
    BigInteger,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
)
from connect_core.java.text import to_text

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
    "BigInteger",
    "Date",
    "Decimal",
    "Field",
    "Float32",
    "Float64",
    "Instant",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Schema",
    "SchemaAndValue",
    "SchemaBuilder",
    "SchemaType",
    "Struct",
    "Time",
    "Timestamp",
    "infer_schema",
    "parse_string",
    "project",
    "to_text",
    "validate_value",
]
