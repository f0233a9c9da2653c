"""ReplaceField: keep, drop and rename fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa

from connect_core.api.batch import Batch, Columns
from connect_core.api.config import ConfigDef, ConfigType, Importance, LambdaValidator, ValidList
from connect_core.api.data import Int8, Int16, Int32, Int64, Schema, SchemaBuilder, SchemaType, Struct
from connect_core.api.records import Record
from connect_core.api.transform import Transformation
from connect_core.errors import DataError, NullValueError
from connect_core.transforms.support.columns import fields_of, filled, is_map, same_rows
from connect_core.transforms.support.replace_null import REPLACE_NULL_WITH_DEFAULT, define_replace_null
from connect_core.transforms.support.requirements import require_map, require_struct
from connect_core.transforms.support.side import KEY, VALUE, Side
from connect_core.transforms.support.specs import invalid_mapping, split_pair
from connect_core.transforms.support.structs import cached, copy_basics, field_value

__all__ = ["ReplaceField", "ReplaceFieldKey", "ReplaceFieldValue"]

EXCLUDE = "exclude"
INCLUDE = "include"
RENAMES = "renames"
PURPOSE = "field replacement"


def _parse_renames(mappings: list[str] | None) -> dict[str, str]:
    if mappings is None:
        raise NullValueError(f"{RENAMES} is null")
    renames: dict[str, str] = {}
    for mapping in mappings:
        parts = split_pair(mapping)
        if len(parts) != 2:
            raise invalid_mapping(mappings, mapping)
        renames[parts[0]] = parts[1]
    return renames


def _check_renames(mappings: list[str] | None) -> None:
    _parse_renames(mappings)


def _definition() -> ConfigDef:
    names = ValidList.any_non_duplicate_values(True, False)
    pairs = LambdaValidator(
        lambda name, value: _check_renames(value),
        lambda: "list of colon-delimited pairs, e.g. <code>foo:bar,abc:xyz</code>",
    )
    settings = (
        (EXCLUDE, names, "Fields to drop, even if they are among those to keep."),
        (INCLUDE, names, "Fields to keep. Without this setting all are kept."),
        (RENAMES, pairs, "Fields to rename, as old:new. Fields are kept and dropped by their old names."),
    )
    definition = ConfigDef()
    for name, validator, doc in settings:
        definition.define(name, ConfigType.LIST, [], validator=validator, importance=Importance.MEDIUM, doc=doc)
    return define_replace_null(definition)


CONFIG = _definition()


class ReplaceField(Transformation):
    """Keeps, drops and renames fields; a null stays null. Connect: ``ReplaceField``."""

    side: ClassVar[Side]

    def config(self) -> ConfigDef:
        """Return the settings of this transform."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings. Raise ConfigError for a malformed rename."""
        config = CONFIG.parse(configs)
        self._exclude = frozenset(config[EXCLUDE])
        self._include = frozenset(config[INCLUDE])
        self._renames = _parse_renames(config[RENAMES])
        self._originals = {new: old for old, new in self._renames.items()}
        self._replace_nulls: bool = config[REPLACE_NULL_WITH_DEFAULT]
        self._replaced = cached(self._replace)

    def apply(self, record: Record) -> Record:
        """Change one record. Raise DataError for data other than structs and maps."""
        schema, value = self.side.schema(record), self.side.value(record)
        if value is None:
            return record
        if schema is None:
            kept = {
                self._renamed(name): item for name, item in require_map(value, PURPOSE).items() if self._keeps(name)
            }
            return self.side.changed(record, None, kept)
        struct = require_struct(value, PURPOSE)
        replaced = self._replaced(struct.schema)
        updated = Struct(replaced)
        for field in replaced.fields:
            name = self._original(field.name)
            value = field_value(struct, name, self._replace_nulls)
            updated.put(field, value if name == field.name else _as_strict(struct.schema, name, value))
        return self.side.changed(record, replaced, updated)

    def _keeps(self, name: str) -> bool:
        return name not in self._exclude and (not self._include or name in self._include)

    def _renamed(self, name: str) -> str:
        return self._renames.get(name, name)

    def _original(self, name: str) -> str:
        return self._originals.get(name, name)

    def _replace(self, schema: Schema) -> Schema:
        builder = copy_basics(schema, SchemaBuilder.struct())
        for field in schema.fields:
            if self._keeps(field.name):
                builder.field(self._renamed(field.name), field.schema)
        return builder.build()

    def apply_batch(self, batch: Batch) -> Batch | None:
        """Change all rows."""
        columns = self.side.columns(batch)
        if columns is None:
            return None
        if columns.array.null_count == len(batch):
            return batch
        if not is_map(columns) or (columns.schema is not None and columns.array.null_count):
            return None
        changed = self._replace_columns(columns)
        return None if changed is None else self.side.with_data(batch, changed)

    def _replace_columns(self, columns: Columns) -> Columns | None:
        fields = fields_of(columns.array)
        if columns.schema is None:
            kept = {self._renamed(name): column for name, column in fields.items() if self._keeps(name)}
            return same_rows(columns, None, kept)
        try:
            schema = self._replaced(columns.schema)
        except DataError:
            return None
        replaced: dict[str, pa.Array] = {}
        for field in schema.fields:
            source = columns.schema.field(self._original(field.name))
            column = None if source is None else filled(fields[source.name], field.schema, self._replace_nulls)
            # Whether a value fits another field's schema is decided in the record lane.
            if source is None or column is None or source.schema != field.schema:
                return None
            replaced[field.name] = column
        return same_rows(columns, schema, replaced)


def _as_strict(schema: Schema, name: str, value: Any) -> Any:
    """Give a plain integer the width of its field, so that another field's schema does not accept it as any width."""
    field = schema.field(name)
    width = None if field is None or type(value) is not int else _WIDTHS.get(field.schema.type)
    return value if width is None else width(value)


_WIDTHS: dict[SchemaType, type[int]] = {
    SchemaType.INT8: Int8,
    SchemaType.INT16: Int16,
    SchemaType.INT32: Int32,
    SchemaType.INT64: Int64,
}


class ReplaceFieldKey(ReplaceField):
    """ReplaceField on the record's key."""

    side = KEY


class ReplaceFieldValue(ReplaceField):
    """ReplaceField on the record's value."""

    side = VALUE
