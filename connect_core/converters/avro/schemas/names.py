"""Names of Avro's types and fields, and the properties in which Avro schemas keep Connect's traits."""

from __future__ import annotations

import re
from urllib.parse import quote_plus

from connect_core.api.data import Schema
from connect_core.converters.avro.config import AvroSettings
from connect_core.converters.avro.schemas.model import AvroKind, AvroType
from connect_core.errors import DataError

__all__ = [
    "CONNECT_DEFAULT",
    "CONNECT_DOC",
    "CONNECT_INTERNAL_TYPE",
    "CONNECT_NAME",
    "CONNECT_PARAMETERS",
    "CONNECT_TYPE",
    "CONNECT_VERSION",
    "DECIMAL_PRECISION",
    "DEFAULT_NAME",
    "DEFAULT_PRECISION",
    "ENUM_DEFAULT",
    "ENUM_DOC",
    "FIELD_DEFAULT",
    "FIELD_DOC",
    "FIXED_SIZE",
    "MAP_ENTRY",
    "NAMESPACE",
    "RECORD_DOC",
    "SMALL_INTEGERS",
    "UNION_FIELD",
    "UNION_GENERALIZED",
    "UNION_NAME",
    "UNION_PREFIX",
    "branch_name",
    "enum_parameter",
    "field_name",
    "is_default_name",
    "is_map_entry",
    "is_union",
    "split_name",
    "type_name",
]

NAMESPACE = "io.confluent.connect.avro"
DEFAULT_NAME = "ConnectDefault"
MAP_ENTRY = "MapEntry"
UNION_NAME = f"{NAMESPACE}.Union"
ENUM_NAME = f"{NAMESPACE}.Enum"
UNION_GENERALIZED = "org.apache.kafka.connect.data.Union"
ENUM_GENERALIZED = "org.apache.kafka.connect.data.Enum"
UNION_PREFIX = "connect_union_"
UNION_FIELD = f"{UNION_PREFIX}field_"

CONNECT_NAME = "connect.name"
CONNECT_DOC = "connect.doc"
CONNECT_VERSION = "connect.version"
CONNECT_DEFAULT = "connect.default"
CONNECT_PARAMETERS = "connect.parameters"
CONNECT_TYPE = "connect.type"
CONNECT_INTERNAL_TYPE = "connect.internal.type"
FIXED_SIZE = "connect.fixed.size"
DECIMAL_PRECISION = "connect.decimal.precision"
DEFAULT_PRECISION = 64
RECORD_DOC = f"{NAMESPACE}.record.doc"
FIELD_DOC = f"{NAMESPACE}.field.doc."
FIELD_DEFAULT = f"{NAMESPACE}.field.default"
ENUM_DOC = f"{NAMESPACE}.enum.doc."
ENUM_DEFAULT = f"{NAMESPACE}.enum.default."
SMALL_INTEGERS = ("int8", "int16")

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DEFAULT = re.compile(rf"{re.escape(NAMESPACE)}\.{DEFAULT_NAME}\d*")
_START = re.compile(r"[A-Za-z_]")
_REMEDY = "rename it (ReplaceField for fields, SetSchemaMetadata for schemas), or set scrub.invalid.names=true"


def split_name(name: str) -> tuple[str, str]:
    """Return the namespace and the simple name of a full name."""
    namespace, _, simple = name.rpartition(".")
    return namespace, simple


def is_default_name(name: str) -> bool:
    """Whether a full name was given to a schema without a name."""
    return _DEFAULT.fullmatch(name) is not None


def field_name(name: str, scrub: bool) -> str:
    """Return the name of a field in Avro. Raise DataError for one that Avro rejects."""
    if _NAME.fullmatch(name):
        return name
    if not scrub:
        raise DataError(f"{name!r} is not a valid Avro name (letters, digits and _ only): {_REMEDY}")
    return _scrubbed(name)


def type_name(name: str, scrub: bool) -> str:
    """Return the full name of a type in Avro. Raise DataError for one that Avro rejects."""
    return ".".join(field_name(part, scrub) for part in name.split("."))


def _scrubbed(name: str) -> str:
    # As in java.net.URLEncoder; of its characters Avro accepts only letters and digits.
    encoded = quote_plus(name, safe="*", errors="replace").replace("~", "%7E")
    plain = re.sub(r"[^A-Za-z0-9_]", "_", encoded)
    return plain if _START.match(plain) else f"x{plain}"


def is_map_entry(avro: AvroType) -> bool:
    """Whether a record is the entry of a map."""
    if avro.kind is not AvroKind.RECORD:
        return False
    return avro.name == f"{NAMESPACE}.{MAP_ENTRY}" or avro.props.get(CONNECT_INTERNAL_TYPE) == MAP_ENTRY


def is_union(schema: Schema) -> bool:
    """Whether a struct represents a union, with one field per branch."""
    return schema.name == UNION_NAME or UNION_GENERALIZED in (schema.parameters or {})


def enum_parameter(settings: AvroSettings) -> str:
    """Return the parameter with an enum's name; its symbols are in parameters below it."""
    return ENUM_GENERALIZED if settings.generalized else ENUM_NAME


def branch_name(avro: AvroType, place: int, settings: AvroSettings) -> str:
    """Return the name of the field for a branch in a union's struct."""
    if settings.generalized:
        return f"{UNION_FIELD}{place}"
    if avro.name is None or avro.kind is AvroKind.FIXED:
        return avro.kind.value
    return avro.name if settings.enhanced else split_name(avro.name)[1]
