"""Logical types: values of a richer class over a primitive schema type."""

from __future__ import annotations

import decimal

from connect_core.api.data.builder import SchemaBuilder
from connect_core.api.data.schema import Schema
from connect_core.errors import DataError, NullValueError, NumberFormatError
from connect_core.java.decimals import of_unscaled, unscaled_and_scale
from connect_core.java.instant import MILLIS_PER_DAY, Instant
from connect_core.java.numbers import parse_integer, wrap

__all__ = ["Date", "Decimal", "Time", "Timestamp"]


class Decimal:
    """Exact decimals of a fixed scale, as ``decimal.Decimal``, over BYTES."""

    LOGICAL_NAME = "org.apache.kafka.connect.data.Decimal"
    SCALE_FIELD = "scale"

    @classmethod
    def builder(cls, scale: int) -> SchemaBuilder:
        """Start a schema of decimals with ``scale`` digits after the point."""
        return SchemaBuilder.bytes().name(cls.LOGICAL_NAME).parameter(cls.SCALE_FIELD, str(scale)).version(1)

    @classmethod
    def schema(cls, scale: int) -> Schema:
        """Return the required schema of this scale."""
        return cls.builder(scale).build()

    @classmethod
    def scale(cls, schema: Schema) -> int:
        """Return the schema's scale. Raise DataError if it has none."""
        if schema.parameters is None:
            raise NullValueError(f"Invalid Decimal schema {schema}: it has no parameters")
        text = schema.parameters.get(cls.SCALE_FIELD)
        if text is None:
            raise DataError("Invalid Decimal schema: scale parameter not found.")
        try:
            return parse_integer(text, 32)
        except NumberFormatError as error:
            raise DataError("Invalid scale parameter found in Decimal schema: ") from error

    @classmethod
    def from_logical(cls, schema: Schema, value: decimal.Decimal) -> bytes:
        """Return the unscaled value, big endian. Raise DataError for another scale."""
        expected = cls.scale(schema)
        unscaled, scale = unscaled_and_scale(value)
        if scale != expected:
            raise DataError(
                "Decimal value has mismatching scale for given Decimal schema. "
                f"Schema has scale {expected}, value has scale {scale}."
            )
        return unscaled.to_bytes((unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1, "big", signed=True)

    @classmethod
    def to_logical(cls, schema: Schema, value: bytes) -> decimal.Decimal:
        """Return the decimal of an unscaled big-endian value."""
        if not value:
            raise NumberFormatError("Zero length BigInteger")
        return of_unscaled(int.from_bytes(value, "big", signed=True), cls.scale(schema))


class Date:
    """Days, as ``Instant`` at midnight UTC, over INT32 (days since 1970)."""

    LOGICAL_NAME = "org.apache.kafka.connect.data.Date"

    @classmethod
    def builder(cls) -> SchemaBuilder:
        """Start a schema of days."""
        return SchemaBuilder.int32().name(cls.LOGICAL_NAME).version(1)

    SCHEMA: Schema

    @classmethod
    def from_logical(cls, schema: Schema, value: Instant) -> int:
        """Return the days since 1970. Raise DataError if there is a time of day."""
        _check_name(schema, cls.LOGICAL_NAME, "Date")
        days, rest = divmod(value.epoch_millis, MILLIS_PER_DAY)
        if rest:
            raise DataError("Kafka Connect Date type should not have any time fields set to non-zero values.")
        return wrap(days, 32)

    @classmethod
    def to_logical(cls, schema: Schema, value: int) -> Instant:
        """Return midnight of a day."""
        _check_name(schema, cls.LOGICAL_NAME, "Date")
        return Instant(int(value) * MILLIS_PER_DAY)


class Time:
    """Times of day, as ``Instant`` on 1970-01-01, over INT32 (milliseconds)."""

    LOGICAL_NAME = "org.apache.kafka.connect.data.Time"

    @classmethod
    def builder(cls) -> SchemaBuilder:
        """Start a schema of times of day."""
        return SchemaBuilder.int32().name(cls.LOGICAL_NAME).version(1)

    SCHEMA: Schema

    @classmethod
    def from_logical(cls, schema: Schema, value: Instant) -> int:
        """Return the milliseconds since midnight. Raise DataError off 1970-01-01."""
        _check_name(schema, cls.LOGICAL_NAME, "Time")
        if not 0 <= value.epoch_millis <= MILLIS_PER_DAY:
            raise DataError("Kafka Connect Time type should not have any date fields set to non-zero values.")
        return value.epoch_millis

    @classmethod
    def to_logical(cls, schema: Schema, value: int) -> Instant:
        """Return a time of day. Raise DataError outside 0..86400000."""
        _check_name(schema, cls.LOGICAL_NAME, "Date")
        if not 0 <= value <= MILLIS_PER_DAY:
            raise DataError("Time values must use number of milliseconds greater than 0 and less than 86400000")
        return Instant(int(value))


class Timestamp:
    """Points in time, as ``Instant``, over INT64 (milliseconds since 1970)."""

    LOGICAL_NAME = "org.apache.kafka.connect.data.Timestamp"

    @classmethod
    def builder(cls) -> SchemaBuilder:
        """Start a schema of points in time."""
        return SchemaBuilder.int64().name(cls.LOGICAL_NAME).version(1)

    SCHEMA: Schema

    @classmethod
    def from_logical(cls, schema: Schema, value: Instant) -> int:
        """Return the milliseconds since 1970."""
        _check_name(schema, cls.LOGICAL_NAME, "Timestamp")
        return value.epoch_millis

    @classmethod
    def to_logical(cls, schema: Schema, value: int) -> Instant:
        """Return the point in time."""
        _check_name(schema, cls.LOGICAL_NAME, "Timestamp")
        return Instant(int(value))


Date.SCHEMA = Date.builder().build()
Time.SCHEMA = Time.builder().build()
Timestamp.SCHEMA = Timestamp.builder().build()


def _check_name(schema: Schema, name: str, what: str) -> None:
    if schema.name != name:
        raise DataError(f"Requested conversion of {what} object but the schema does not match.")
