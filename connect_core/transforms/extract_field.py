"""ExtractField: replace the key or value by one of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.batch import Batch, Columns
from connect_core.api.config import ConfigDef, ConfigType, Importance
from connect_core.api.data import Field, SchemaType
from connect_core.api.records import Record
from connect_core.api.transform import Transformation
from connect_core.errors import IllegalArgumentError
from connect_core.transforms.support.columns import child, filled
from connect_core.transforms.support.field_path import FIELD_SYNTAX_VERSION, FieldPath, define_field_syntax
from connect_core.transforms.support.replace_null import REPLACE_NULL_WITH_DEFAULT, define_replace_null
from connect_core.transforms.support.requirements import require_map_or_null, require_struct_or_null
from connect_core.transforms.support.side import KEY, VALUE, Side

__all__ = ["ExtractField", "ExtractFieldKey", "ExtractFieldValue"]

FIELD = "field"
PURPOSE = "field extraction"

CONFIG = define_field_syntax(
    define_replace_null(
        ConfigDef().define(
            FIELD,
            ConfigType.STRING,
            importance=Importance.MEDIUM,
            doc="Name or path of the field that replaces the whole key or value.",
        )
    )
)


class ExtractField(Transformation):
    """Keeps one field only; a null stays null. Connect: ``ExtractField``."""

    side: ClassVar[Side]

    def config(self) -> ConfigDef:
        """Return the settings of this transform."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings. Raise ConfigError for a malformed path."""
        config = CONFIG.parse(configs)
        self._text = config[FIELD]
        self._path = FieldPath.parse(self._text, config[FIELD_SYNTAX_VERSION])
        self._replace_nulls: bool = config[REPLACE_NULL_WITH_DEFAULT]

    def apply(self, record: Record) -> Record:
        """Extract the field from one record. Raise IllegalArgumentError for an unknown field of a schema."""
        schema, value = self.side.schema(record), self.side.value(record)
        if schema is None:
            found = require_map_or_null(value, PURPOSE)
            return self.side.changed(record, None, None if found is None else self._path.value_of_map(found))
        struct = require_struct_or_null(value, PURPOSE)
        field = self._path.field_of(schema)
        if field is None:
            raise IllegalArgumentError(f"Unknown field: {self._text}")
        extracted = None if struct is None else self._path.value_of_struct(struct, self._replace_nulls)
        return self.side.changed(record, field.schema, extracted)

    def apply_batch(self, batch: Batch) -> Batch | None:
        """Extract the field from all rows."""
        columns = self.side.columns(batch)
        if columns is None:
            return None
        extracted = self._extract(columns)
        return None if extracted is None else self.side.with_data(batch, extracted)

    def _extract(self, columns: Columns) -> Columns | None:
        if not self._path.steps:
            return None
        if columns.schema is None:
            return self._extract_schemaless(columns.array)
        schema, array = columns.schema, columns.array
        for step in self._path.steps[:-1]:
            field = schema.field(step) if schema.type is SchemaType.STRUCT else None
            if field is None or field.schema.default is not None:
                return None
            schema, array = field.schema, child(array, step)
        last = self._path.steps[-1]
        field = schema.field(last) if schema.type is SchemaType.STRUCT else None
        return None if field is None else self._last(array, field)

    def _last(self, array: pa.StructArray, field: Field) -> Columns | None:
        column = child(array, field.name)
        if column.null_count and self._replace_nulls and field.schema.default is not None:
            with_default = filled(column, field.schema, True)
            if with_default is None:
                return None
            # No default if the struct that would hold the field is null.
            column = pc.if_else(array.is_valid(), with_default, column)
        return Columns(field.schema, column)

    def _extract_schemaless(self, array: pa.Array) -> Columns | None:
        for step in self._path.steps:
            if array.null_count == len(array):
                return Columns(None, pa.nulls(len(array)))
            if not pa.types.is_struct(array.type):
                return None
            array = child(array, step) if array.type.get_field_index(step) >= 0 else pa.nulls(len(array))
        return Columns(None, array)


class ExtractFieldKey(ExtractField):
    """ExtractField on the record's key."""

    side = KEY


class ExtractFieldValue(ExtractField):
    """ExtractField on the record's value."""

    side = VALUE
