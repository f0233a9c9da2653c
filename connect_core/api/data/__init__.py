"""Connect's data model: schemas, values and what converts between them."""

from connect_core.api.data.arrow import from_arrow_field, to_arrow_array, to_arrow_field, to_arrow_type, to_python
from connect_core.api.data.builder import SchemaBuilder
from connect_core.api.data.date_format import SimpleDateFormat
from connect_core.api.data.decimals import of_unscaled, parse_decimal, unscaled_and_scale
from connect_core.api.data.equality import hash_value, same_value
from connect_core.api.data.inference import infer_schema
from connect_core.api.data.instant import Instant
from connect_core.api.data.logical import Date, Decimal, Time, Timestamp
from connect_core.api.data.numbers import (
    BigInteger,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    parse_double,
    parse_float,
    parse_integer,
    round_to_float32,
    wrap,
)
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
from connect_core.api.data.text import decimal_text, float32_text, float64_text, to_text
from connect_core.api.data.validation import validate_value

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
    "SimpleDateFormat",
    "Struct",
    "Time",
    "Timestamp",
    "decimal_text",
    "float32_text",
    "float64_text",
    "from_arrow_field",
    "hash_value",
    "infer_schema",
    "of_unscaled",
    "parse_decimal",
    "parse_double",
    "parse_float",
    "parse_integer",
    "parse_string",
    "project",
    "round_to_float32",
    "same_value",
    "to_arrow_array",
    "to_arrow_field",
    "to_arrow_type",
    "to_python",
    "to_text",
    "unscaled_and_scale",
    "validate_value",
    "wrap",
]
