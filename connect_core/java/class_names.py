"""Java's class names for values and errors."""

from __future__ import annotations

import decimal

from connect_core.errors import JAVA_NAMES, ConnectError
from connect_core.java.instant import Instant
from connect_core.java.numbers import BigInteger, Float32, Float64, Int8, Int16, Int32, Int64

__all__ = ["error_text", "java_class"]

_OF_VALUES: dict[type, str] = {
    bool: "java.lang.Boolean",
    str: "java.lang.String",
    Int8: "java.lang.Byte",
    Int16: "java.lang.Short",
    Int32: "java.lang.Integer",
    Int64: "java.lang.Long",
    int: "java.lang.Long",
    BigInteger: "java.math.BigInteger",
    Float32: "java.lang.Float",
    Float64: "java.lang.Double",
    float: "java.lang.Double",
    decimal.Decimal: "java.math.BigDecimal",
    bytes: "[B",
    list: "java.util.ArrayList",
    dict: "java.util.LinkedHashMap",
    type: "java.lang.Class",
    Instant: "java.util.Date",
}
_OF_ERRORS = {kind: name for name, kind in JAVA_NAMES.items()}
_JAVA_LANG = (
    "ClassCastException",
    "IllegalArgumentException",
    "IllegalStateException",
    "IndexOutOfBoundsException",
    "NullPointerException",
    "NumberFormatException",
)
_PACKAGES = {
    "ConfigException": "org.apache.kafka.common.config",
    "SerializationException": "org.apache.kafka.common.errors",
    **dict.fromkeys(_JAVA_LANG, "java.lang"),
}


def java_class(kind: type) -> str | None:
    """Return the full name of Java's class for a value of ``kind``, if there is one."""
    return _OF_VALUES.get(kind)


def error_text(error: ConnectError) -> str:
    """Return the text of Java's ``Throwable.toString`` for the error."""
    simple = next(_OF_ERRORS[kind] for kind in type(error).__mro__ if kind in _OF_ERRORS)
    return f"{_PACKAGES.get(simple, 'org.apache.kafka.connect.errors')}.{simple}: {error}"
