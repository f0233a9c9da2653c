"""TimestampConverter: convert timestamps to text, Unix time, Date, Time or Timestamp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa

from connect_core.api.batch import Batch, Columns
from connect_core.api.config import ConfigDef, ConfigType, Importance, ValidString
from connect_core.api.data import Schema, SchemaBuilder, Struct
from connect_core.api.records import Record
from connect_core.api.transform import Transformation
from connect_core.errors import ConfigError, ConnectError, IllegalArgumentError, NullValueError
from connect_core.java.dates.format import SimpleDateFormat
from connect_core.transforms.support.columns import copy_fields, is_map, same_rows
from connect_core.transforms.support.replace_null import REPLACE_NULL_WITH_DEFAULT, define_replace_null
from connect_core.transforms.support.requirements import require_map, require_struct_or_null
from connect_core.transforms.support.side import KEY, VALUE, Side
from connect_core.transforms.support.structs import cached, copy_basics, copy_values
from connect_core.transforms.support.timestamp_columns import convert_column
from connect_core.transforms.support.timestamp_forms import (
    FORMS,
    PRECISIONS,
    Conversion,
    form_of_schema,
    schema_of_form,
)

__all__ = ["TimestampConverter", "TimestampConverterKey", "TimestampConverterValue"]

FIELD = "field"
TARGET_TYPE = "target.type"
FORMAT = "format"
UNIX_PRECISION = "unix.precision"
PURPOSE = "converting timestamp formats"

CONFIG = define_replace_null(
    ConfigDef()
    .define(
        FIELD,
        ConfigType.STRING,
        "",
        importance=Importance.HIGH,
        doc="Field that holds the timestamp. Empty: the whole key or value is one.",
    )
    .define(
        TARGET_TYPE,
        ConfigType.STRING,
        validator=ValidString.one_of(*FORMS),
        importance=Importance.HIGH,
        doc="Type to convert it to: string, unix, Date, Time or Timestamp.",
    )
    .define(
        FORMAT,
        ConfigType.STRING,
        "",
        importance=Importance.MEDIUM,
        doc="Pattern for Java's SimpleDateFormat, in UTC, for reading and writing strings. Reading is lenient: months "
        "and days carry over, and what follows the pattern is ignored.",
    )
    .define(
        UNIX_PRECISION,
        ConfigType.STRING,
        "milliseconds",
        validator=ValidString.one_of(*PRECISIONS),
        importance=Importance.LOW,
        doc="Unit of the Unix times that are read or written: seconds, milliseconds, microseconds or nanoseconds since "
        "1970. Nothing finer than milliseconds is kept; what is cut off is cut toward zero.",
    )
)


class TimestampConverter(Transformation):
    """Converts one timestamp; a null stays null. Connect: ``TimestampConverter``."""

    side: ClassVar[Side]

    def config(self) -> ConfigDef:
        """Return the settings of this transform."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings. Raise ConfigError for a bad or missing pattern."""
        config = CONFIG.parse(configs)
        self._field: str | None = config[FIELD]
        pattern = (config[FORMAT] or "").strip() and config[FORMAT]
        if config[TARGET_TYPE] == "string" and not pattern:
            raise ConfigError("TimestampConverter requires format option to be specified when using string timestamps")
        self._conversion = Conversion(config[TARGET_TYPE], _date_format(pattern), config[UNIX_PRECISION])
        self._replace_nulls: bool = config[REPLACE_NULL_WITH_DEFAULT]
        self._updated = cached(self._update)

    def apply(self, record: Record) -> Record:
        """Convert one record. Raise DataError for a value that is not a timestamp."""
        schema, value = self.side.schema(record), self.side.value(record)
        if self._field is None:
            raise NullValueError(f"{FIELD} is null")
        if schema is not None:
            return self._apply_with_schema(record, schema, value)
        if value is None or not self._field:
            return self.side.changed(record, None, self._conversion.convert(value))
        updated = require_map(value, PURPOSE).copy()
        updated[self._field] = self._conversion.convert(updated.get(self._field))
        return self.side.changed(record, None, updated)

    def _apply_with_schema(self, record: Record, schema: Schema, value: Any) -> Record:
        if not self._field:
            target = schema_of_form(self._conversion.target, schema.optional)
            return self.side.changed(record, target, self._conversion.convert(value, form_of_schema(schema)))
        struct = require_struct_or_null(value, PURPOSE)
        updated = self._updated(schema)
        changed = None if struct is None else self._convert_struct(struct, updated)
        return self.side.changed(record, updated, changed)

    def _convert_struct(self, struct: Struct, updated: Schema) -> Struct:
        values = copy_values(struct, self._replace_nulls)
        field = struct.schema.field(self._field or "")
        if field is not None:
            form = form_of_schema(field.schema)
            values[field.index] = self._conversion.convert(values[field.index], form)
        return Struct.of_values(updated, values)

    def _update(self, schema: Schema) -> Schema:
        builder = copy_basics(schema, SchemaBuilder.struct())
        for field in schema.fields:
            is_target = field.name == self._field
            target = schema_of_form(self._conversion.target, field.schema.optional)
            builder.field(field.name, target if is_target else field.schema)
        if schema.optional:
            builder.optional()
        if schema.default is not None:
            builder.default_value(self._convert_struct(schema.default, builder.draft))
        return builder.build()

    def apply_batch(self, batch: Batch) -> Batch | None:
        """Convert all rows."""
        columns = self.side.columns(batch)
        if columns is None or self._field is None:
            return None
        if columns.schema is None and columns.array.null_count == len(batch):
            return batch
        try:
            changed = self._convert_fields(columns) if self._field else self._convert_whole(columns)
        except ConnectError:
            return None
        return None if changed is None else self.side.with_data(batch, changed)

    def _convert_whole(self, columns: Columns) -> Columns | None:
        target = None if columns.schema is None else schema_of_form(self._conversion.target, columns.schema.optional)
        column = self._column(columns.schema, columns.array)
        return None if column is None else Columns(target, column)

    def _convert_fields(self, columns: Columns) -> Columns | None:
        if not is_map(columns) or (columns.schema is not None and columns.array.null_count):
            return None
        fields = copy_fields(columns, self._replace_nulls)
        if fields is None:
            return None
        name = self._field or ""
        field = None if columns.schema is None else columns.schema.field(name)
        if name in fields:
            fields[name] = self._column(None if field is None else field.schema, fields[name])
        elif columns.schema is None:
            fields[name] = pa.nulls(len(columns))
        if any(column is None for column in fields.values()):
            return None
        return same_rows(columns, None if columns.schema is None else self._updated(columns.schema), fields)

    def _column(self, schema: Schema | None, column: pa.Array) -> pa.Array | None:
        form = None if schema is None else form_of_schema(schema)
        return convert_column(self._conversion, form, column, has_schema=schema is not None)


class TimestampConverterKey(TimestampConverter):
    """TimestampConverter on the record's key."""

    side = KEY


class TimestampConverterValue(TimestampConverter):
    """TimestampConverter on the record's value."""

    side = VALUE


def _date_format(pattern: str) -> SimpleDateFormat | None:
    try:
        return SimpleDateFormat(pattern) if pattern else None
    except IllegalArgumentError as error:
        message = "TimestampConverter requires a SimpleDateFormat-compatible pattern for string timestamps"
        raise ConfigError(f"{message}: {pattern}", error) from error
