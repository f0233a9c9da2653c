"""Cast: change the type of fields, or of the whole key or value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa

from connect_core.api.batch import Batch, Columns
from connect_core.api.config import ConfigDef, ConfigType, Importance, LambdaValidator
from connect_core.api.data import Schema, SchemaBuilder, SchemaType, Struct
from connect_core.api.data.schema import LOGICAL_CLASSES
from connect_core.api.records import Record
from connect_core.api.transform import Transformation
from connect_core.errors import ConfigError, ConnectError
from connect_core.transforms.support.columns import copy_fields, is_map, same_rows
from connect_core.transforms.support.narrowing import cast_value, check_output
from connect_core.transforms.support.narrowing_columns import cast_column
from connect_core.transforms.support.replace_null import REPLACE_NULL_WITH_DEFAULT, define_replace_null
from connect_core.transforms.support.requirements import require_map, require_struct
from connect_core.transforms.support.side import KEY, VALUE, Side
from connect_core.transforms.support.specs import invalid_mapping, split_pair
from connect_core.transforms.support.structs import cached, copy_basics, copy_values

__all__ = ["Cast", "CastKey", "CastValue"]

SPEC = "spec"
PURPOSE = "cast types"


def _parse_spec(mappings: list[str] | None) -> dict[str | None, SchemaType]:
    """Return the type of each field; the key ``None`` has the type of the whole value."""
    if not mappings:
        raise ConfigError("Must specify at least one field to cast.")
    casts: dict[str | None, SchemaType] = {}
    for mapping in mappings:
        parts = [part.strip() for part in split_pair(mapping)]
        if not 1 <= len(parts) <= 2:
            raise invalid_mapping(mappings, mapping)
        casts[None if len(parts) == 1 else parts[0]] = _parse_type(parts[-1])
    if None in casts and len(mappings) > 1:
        raise ConfigError(
            "Cast transformations that specify a type to cast the entire value to "
            "may only specify a single cast in their spec"
        )
    return casts


def _parse_type(text: str) -> SchemaType:
    found = next((type for type in SchemaType if str(type) == text.upper()), None)
    if found is None:
        # Connect swaps name and value here, and its users search for this text.
        known = f"No enum constant org.apache.kafka.connect.data.Schema.Type.{text.upper()}"
        raise ConfigError(f"Invalid type found in casting spec: {text}", f"java.lang.IllegalArgumentException: {known}")
    return check_output(found)


def _check_spec(mappings: list[str] | None) -> None:
    _parse_spec(mappings)


CONFIG = define_replace_null(
    ConfigDef().define(
        SPEC,
        ConfigType.LIST,
        validator=LambdaValidator(
            lambda name, value: _check_spec(value),
            lambda: "list of colon-delimited pairs, e.g. <code>foo:bar,abc:xyz</code>",
        ),
        importance=Importance.HIGH,
        doc="Either field:type pairs, or one type alone for the whole key or value. Types: int8, int16, int32, int64, "
        "float32, float64, boolean, string. Bytes can become strings (base64) only.",
    )
)


class Cast(Transformation):
    """Changes types as Java's casts and parsers do; a null stays null. Connect: ``Cast``."""

    side: ClassVar[Side]

    def config(self) -> ConfigDef:
        """Return the settings of this transform."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings. Raise ConfigError for an unknown type."""
        config = CONFIG.parse(configs)
        casts = _parse_spec(config[SPEC])
        self._whole = casts.get(None)
        self._casts = {name: type for name, type in casts.items() if name is not None}
        self._replace_nulls: bool = config[REPLACE_NULL_WITH_DEFAULT]
        self._updated = cached(self._update)

    def apply(self, record: Record) -> Record:
        """Cast one record. Raise DataError for a value that cannot be cast."""
        schema, value = self.side.schema(record), self.side.value(record)
        if value is None:
            return record
        if schema is not None:
            return self._apply_with_schema(record, schema, value)
        if self._whole is not None:
            return self.side.changed(record, None, cast_value(None, value, self._whole))
        updated = require_map(value, PURPOSE).copy()
        for name, target in self._casts.items():
            updated[name] = cast_value(None, value.get(name), target)
        return self.side.changed(record, None, updated)

    def _apply_with_schema(self, record: Record, schema: Schema, value: Any) -> Record:
        updated = self._updated(schema)
        if self._whole is not None:
            return self.side.changed(record, updated, _plain(cast_value(schema, value, self._whole)))
        struct = require_struct(value, PURPOSE)
        values = copy_values(struct, self._replace_nulls)
        # In the order of the fields: if several cannot be cast, Connect names the first.
        for field in struct.schema.fields:
            target = self._casts.get(field.name)
            if target is not None:
                values[field.index] = _plain(cast_value(field.schema, values[field.index], target))
        return self.side.changed(record, updated, Struct.of_values(updated, values))

    def _update(self, schema: Schema) -> Schema:
        if self._whole is not None:
            builder = copy_basics(schema, SchemaBuilder(self._whole))
        else:
            builder = copy_basics(schema, SchemaBuilder.struct())
            for field in schema.fields:
                target = self._casts.get(field.name)
                builder.field(field.name, field.schema if target is None else _cast_schema(field.schema, target))
        if schema.optional:
            builder.optional()
        if schema.default is not None:
            builder.default_value(cast_value(schema, schema.default, self._whole or SchemaType.STRUCT))
        return builder.build()

    def apply_batch(self, batch: Batch) -> Batch | None:
        """Cast all rows."""
        columns = self.side.columns(batch)
        if columns is None:
            return None
        if columns.array.null_count == len(batch):
            return batch
        try:
            schema = None if columns.schema is None else self._updated(columns.schema)
        except ConnectError:
            return None
        if columns.schema is not None and columns.array.null_count:
            return None
        changed = self._cast_fields(columns, schema) if self._whole is None else self._cast_whole(columns, schema)
        return None if changed is None else self.side.with_data(batch, changed)

    def _cast_whole(self, columns: Columns, schema: Schema | None) -> Columns | None:
        # Columns of a logical type hold instants and decimals, but a cast schema keeps its name and holds numbers.
        if self._whole is None or (schema is not None and schema.name in LOGICAL_CLASSES):
            return None
        column = _cast_column(columns.schema, columns.array, self._whole)
        return None if column is None else Columns(schema, column)

    def _cast_fields(self, columns: Columns, schema: Schema | None) -> Columns | None:
        fields = copy_fields(columns, self._replace_nulls) if is_map(columns) else None
        if fields is None:
            return None
        for name, target in self._casts.items():
            column = fields.get(name)
            if column is not None:
                field = None if columns.schema is None else columns.schema.field(name)
                fields[name] = _cast_column(None if field is None else field.schema, column, target)
            elif columns.schema is None:
                fields[name] = pa.nulls(len(columns))
        if any(column is None for column in fields.values()):
            return None
        return same_rows(columns, schema, fields)


class CastKey(Cast):
    """Cast on the record's key."""

    side = KEY


class CastValue(Cast):
    """Cast on the record's value."""

    side = VALUE


def _plain(value: Any) -> Any:
    """Return an integer whose width the schema defines as a plain int, as columns do."""
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _cast_schema(schema: Schema, target: SchemaType) -> Schema:
    builder = SchemaBuilder(target)
    if schema.optional:
        builder.optional()
    if schema.default is not None:
        builder.default_value(cast_value(schema, schema.default, target))
    return builder.build()


def _cast_column(schema: Schema | None, column: pa.Array, target: SchemaType) -> pa.Array | None:
    is_instant = pa.types.is_temporal(column.type)
    # Without a schema, instants are not Connect data; only the record lane reports this.
    if is_instant and (schema is None or schema.name not in LOGICAL_CLASSES):
        return None
    return cast_column(column, target)
