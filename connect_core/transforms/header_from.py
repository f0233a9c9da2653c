"""HeaderFrom: copy or move fields of the key or value into headers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from connect_core.api.arrow import to_python
from connect_core.api.batch import Batch, Columns
from connect_core.api.config import ConfigDef, ConfigType, Importance, ValidString
from connect_core.api.data import Schema, SchemaAndValue, SchemaBuilder, Struct
from connect_core.api.headers import Header, Headers
from connect_core.api.records import Record
from connect_core.api.transform import Transformation
from connect_core.errors import ConfigError, DataError, NullValueError
from connect_core.transforms.support.columns import fields_of, filled, is_map, same_rows
from connect_core.transforms.support.list_setting import NonEmptyListValidator
from connect_core.transforms.support.replace_null import REPLACE_NULL_WITH_DEFAULT, define_replace_null
from connect_core.transforms.support.requirements import require_map, require_struct
from connect_core.transforms.support.side import KEY, VALUE, Side
from connect_core.transforms.support.structs import cached, copy_basics, field_value

__all__ = ["HeaderFrom", "HeaderFromKey", "HeaderFromValue"]

FIELDS = "fields"
HEADERS = "headers"
OPERATION = "operation"
MOVE = "move"
COPY = "copy"

CONFIG = define_replace_null(
    ConfigDef()
    .define(
        FIELDS,
        ConfigType.LIST,
        validator=NonEmptyListValidator(),
        importance=Importance.HIGH,
        doc="Names of the fields to take.",
    )
    .define(
        HEADERS,
        ConfigType.LIST,
        validator=NonEmptyListValidator(),
        importance=Importance.HIGH,
        doc="Names of the headers to create, one per field and in the same order.",
    )
    .define(
        OPERATION,
        ConfigType.STRING,
        validator=ValidString.one_of(MOVE, COPY),
        importance=Importance.HIGH,
        doc="'move' removes the fields from the key or value, 'copy' keeps them.",
    )
)


class HeaderFrom(Transformation):
    """Appends fields as headers. Connect: ``HeaderFrom``."""

    side: ClassVar[Side]

    def config(self) -> ConfigDef:
        """Return the settings of this transform."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings. Raise ConfigError if the numbers of fields and headers differ."""
        config = CONFIG.parse(configs)
        fields, headers = config[FIELDS], config[HEADERS]
        if len(fields) != len(headers):
            raise ConfigError(f"'{FIELDS}' config must have the same number of elements as '{HEADERS}' config.")
        self._pairs: list[tuple[str, str]] = list(zip(fields, headers, strict=True))
        self._operation: str = config[OPERATION]
        self._replace_nulls: bool = config[REPLACE_NULL_WITH_DEFAULT]
        self._rest = cached(self._without_fields)

    def apply(self, record: Record) -> Record:
        """Add the headers to one record. Raise DataError, or NullValueError for an unknown field of a schema."""
        schema, value = self.side.schema(record), self.side.value(record)
        purpose = f"header {self._operation}"
        if schema is None:
            return self._apply_schemaless(record, require_map(value, purpose))
        return self._apply_with_schema(record, schema, require_struct(value, purpose))

    def _apply_schemaless(self, record: Record, value: dict[Any, Any]) -> Record:
        updated = value.copy()
        headers = record.headers.duplicate()
        for field, header in self._pairs:
            if self._operation == MOVE:
                updated.pop(field, None)
            headers.add_schema_and_value(header, SchemaAndValue(None, value.get(field)))
        changed = self.side.changed(record, None, updated)
        changed.headers = headers
        return changed

    def _apply_with_schema(self, record: Record, schema: Schema, value: Struct) -> Record:
        updated_schema, updated = schema, value
        if self._operation == MOVE:
            updated_schema = self._rest(schema)
            updated = Struct(updated_schema)
            for field in updated_schema.fields:
                updated.put(field, field_value(value, field.name, self._replace_nulls))
        headers = record.headers.duplicate()
        for name, header in self._pairs:
            headers.add_schema_and_value(header, self._field(schema, value, name))
        changed = self.side.changed(record, updated_schema, updated)
        changed.headers = headers
        return changed

    def _field(self, schema: Schema, value: Struct, name: str) -> SchemaAndValue:
        field = schema.field(name)
        if field is None:
            raise NullValueError(f"the schema has no field {name}")
        found = field_value(value, name, self._replace_nulls) if value.schema.field(name) is not None else None
        if found is None and not field.schema.optional:
            raise DataError(f"A null value requires an optional schema but was {field.schema}")
        return SchemaAndValue(field.schema, found)

    def _without_fields(self, schema: Schema) -> Schema:
        taken = {field for field, _ in self._pairs}
        builder = copy_basics(schema, SchemaBuilder.struct())
        for field in schema.fields:
            if field.name not in taken:
                builder.field(field.name, field.schema)
        return builder.build()

    def apply_batch(self, batch: Batch) -> Batch | None:
        """Add the headers to all rows."""
        columns = self.side.columns(batch)
        if columns is None or not is_map(columns) or columns.array.null_count:
            return None
        made = [self._header_column(columns, field, header) for field, header in self._pairs]
        known = [headers for headers in made if headers is not None]
        rest = self._rest_columns(columns)
        if rest is None or len(known) < len(made):
            return None
        present = batch.headers or (Headers(),) * len(batch)
        added = zip(*known, strict=True)
        headers = tuple(Headers([*before, *more]) for before, more in zip(present, added, strict=True))
        return replace(self.side.with_data(batch, rest), headers=headers)

    def _header_column(self, columns: Columns, name: str, header: str) -> list[Header] | None:
        column = fields_of(columns.array).get(name)
        if columns.schema is None:
            values = [None] * len(columns) if column is None else to_python(None, column)
            return [Header(header, None, value) for value in values]
        field = columns.schema.field(name)
        column = None if field is None else filled(column, field.schema, self._replace_nulls)
        if field is None or column is None or (column.null_count and not field.schema.optional):
            return None
        return [Header(header, field.schema, value) for value in to_python(field.schema, column)]

    def _rest_columns(self, columns: Columns) -> Columns | None:
        if self._operation == COPY:
            return columns
        fields = fields_of(columns.array)
        if columns.schema is None:
            taken = {field for field, _ in self._pairs}
            return same_rows(columns, None, {name: column for name, column in fields.items() if name not in taken})
        schema = self._rest(columns.schema)
        rest = {field.name: filled(fields[field.name], field.schema, self._replace_nulls) for field in schema.fields}
        known = {name: column for name, column in rest.items() if column is not None}
        return same_rows(columns, schema, known) if len(known) == len(rest) else None


class HeaderFromKey(HeaderFrom):
    """HeaderFrom on the record's key."""

    side = KEY


class HeaderFromValue(HeaderFrom):
    """HeaderFrom on the record's value."""

    side = VALUE
