"""SetSchemaMetadata: set the name and version of a struct's schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from connect_core.api.batch import Batch
from connect_core.api.config import ConfigDef, ConfigType, Importance
from connect_core.api.data import Schema, SchemaType, Struct
from connect_core.api.records import Record
from connect_core.api.transform import Transformation
from connect_core.errors import ConfigError, DataError
from connect_core.transforms.support.columns import copy_fields, same_rows
from connect_core.transforms.support.replace_null import REPLACE_NULL_WITH_DEFAULT, define_replace_null
from connect_core.transforms.support.requirements import require_schema
from connect_core.transforms.support.side import KEY, VALUE, Side
from connect_core.transforms.support.structs import cached, copy_values

__all__ = ["SetSchemaMetadata", "SetSchemaMetadataKey", "SetSchemaMetadataValue"]

SCHEMA_NAME = "schema.name"
SCHEMA_VERSION = "schema.version"
PURPOSE = "updating schema metadata"

CONFIG = define_replace_null(
    ConfigDef()
    .define(SCHEMA_NAME, ConfigType.STRING, None, importance=Importance.HIGH, doc="The schema's new name.")
    .define(SCHEMA_VERSION, ConfigType.INT, None, importance=Importance.HIGH, doc="The schema's new version.")
)


class SetSchemaMetadata(Transformation):
    """Renames a struct's schema; other schemas are rejected. Connect: ``SetSchemaMetadata``."""

    side: ClassVar[Side]

    def config(self) -> ConfigDef:
        """Return the settings of this transform."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings. Raise ConfigError if neither name nor version is given."""
        config = CONFIG.parse(configs)
        self._name: str | None = config[SCHEMA_NAME]
        self._version: int | None = config[SCHEMA_VERSION]
        self._replace_nulls: bool = config[REPLACE_NULL_WITH_DEFAULT]
        if self._name is None and self._version is None:
            raise ConfigError("Neither schema name nor version configured")
        self._updated = cached(self._update)

    def apply(self, record: Record) -> Record:
        """Change the schema of one record. Raise DataError without a struct schema."""
        schema, value = self.side.schema(record), self.side.value(record)
        if schema is None and value is None:
            return record
        updated = self._updated(require_schema(schema, PURPOSE))
        if isinstance(value, Struct):
            value = Struct.of_values(updated, copy_values(value, self._replace_nulls))
        return self.side.changed(record, updated, value)

    def _update(self, schema: Schema) -> Schema:
        if schema.type is not SchemaType.STRUCT:
            raise DataError("Cannot list fields on non-struct type")
        name = schema.name if self._name is None else self._name
        version = schema.version if self._version is None else self._version
        return schema.replace(name=name, version=version)

    def apply_batch(self, batch: Batch) -> Batch | None:
        """Change the schema of all rows."""
        columns = self.side.columns(batch)
        if columns is None:
            return None
        if columns.schema is None:
            return batch if columns.array.null_count == len(batch) else None
        if columns.schema.type is not SchemaType.STRUCT or columns.array.null_count:
            return None
        fields = copy_fields(columns, self._replace_nulls)
        if fields is None:
            return None
        return self.side.with_data(batch, same_rows(columns, self._updated(columns.schema), fields))


class SetSchemaMetadataKey(SetSchemaMetadata):
    """SetSchemaMetadata on the record's key."""

    side = KEY


class SetSchemaMetadataValue(SetSchemaMetadata):
    """SetSchemaMetadata on the record's value."""

    side = VALUE
