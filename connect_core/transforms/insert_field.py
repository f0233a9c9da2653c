"""InsertField: add record metadata or a fixed text as fields of the key or value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pyarrow as pa

from connect_core.api.arrow import to_arrow_type
from connect_core.api.batch import Batch
from connect_core.api.config import ConfigDef, ConfigType, Importance
from connect_core.api.data import (
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Instant,
    Int32,
    Schema,
    SchemaBuilder,
    Struct,
    Timestamp,
)
from connect_core.api.records import ConnectRecord, Record
from connect_core.api.transform import Transformation
from connect_core.errors import ConfigError, DataError
from connect_core.transforms.support.columns import copy_fields, is_map, plain, same_rows
from connect_core.transforms.support.replace_null import REPLACE_NULL_WITH_DEFAULT, define_replace_null
from connect_core.transforms.support.requirements import require_map, require_sink_record, require_struct
from connect_core.transforms.support.side import KEY, VALUE, Side
from connect_core.transforms.support.structs import cached, copy_basics, copy_values

__all__ = ["InsertField", "InsertFieldKey", "InsertFieldValue"]

TOPIC_FIELD = "topic.field"
PARTITION_FIELD = "partition.field"
OFFSET_FIELD = "offset.field"
TIMESTAMP_FIELD = "timestamp.field"
STATIC_FIELD = "static.field"
STATIC_VALUE = "static.value"
PURPOSE = "field insertion"

_SUFFIX = "A name that ends in '!' is a required field; with '?' or no suffix, it is optional."
_OPTIONAL_TIMESTAMP = Timestamp.builder().optional().build()
_SCHEMAS = {
    TOPIC_FIELD: (STRING_SCHEMA, OPTIONAL_STRING_SCHEMA),
    PARTITION_FIELD: (INT32_SCHEMA, OPTIONAL_INT32_SCHEMA),
    OFFSET_FIELD: (INT64_SCHEMA, OPTIONAL_INT64_SCHEMA),
    TIMESTAMP_FIELD: (Timestamp.SCHEMA, _OPTIONAL_TIMESTAMP),
    STATIC_FIELD: (STRING_SCHEMA, OPTIONAL_STRING_SCHEMA),
}


def _define(definition: ConfigDef, name: str, doc: str) -> ConfigDef:
    return definition.define(name, ConfigType.STRING, None, importance=Importance.MEDIUM, doc=doc)


def _definition() -> ConfigDef:
    definition = _define(ConfigDef(), TOPIC_FIELD, f"Field that gets the record's topic. {_SUFFIX}")
    _define(definition, PARTITION_FIELD, f"Field that gets the record's partition, where it has one. {_SUFFIX}")
    _define(definition, OFFSET_FIELD, f"Field that gets the record's offset; sink connectors only. {_SUFFIX}")
    _define(definition, TIMESTAMP_FIELD, f"Field that gets the record's timestamp, where it has one. {_SUFFIX}")
    _define(definition, STATIC_FIELD, f"Field that gets the text of 'static.value'. {_SUFFIX}")
    _define(definition, STATIC_VALUE, "The text for 'static.field'; needed if that is set.")
    return define_replace_null(definition)


CONFIG = _definition()


@dataclass(frozen=True, slots=True)
class _Insertion:
    """A field to add: its source (the name of a setting), its name and its schema."""

    source: str
    name: str
    schema: Schema

    @classmethod
    def of(cls, source: str, spec: str) -> _Insertion:
        required, optional = _SCHEMAS[source]
        name = spec[:-1] if spec.endswith(("?", "!")) else spec
        return cls(source, name, required if spec.endswith("!") else optional)


class InsertField(Transformation):
    """Adds fields with the record's metadata or a fixed text. Connect: ``InsertField``."""

    side: ClassVar[Side]

    def config(self) -> ConfigDef:
        """Return the settings of this transform."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings. Raise ConfigError if they insert no field."""
        config = CONFIG.parse(configs)
        specs = {source: config[source] for source in _SCHEMAS}
        self._insertions = [_Insertion.of(source, spec) for source, spec in specs.items() if spec is not None]
        self._static = config[STATIC_VALUE]
        self._replace_nulls = config[REPLACE_NULL_WITH_DEFAULT]
        if not self._insertions:
            raise ConfigError("No field insertion configured")
        if specs[STATIC_FIELD] is not None and self._static is None:
            message = f"No value specified for static field: {specs[STATIC_FIELD]}"
            raise ConfigError(STATIC_VALUE, "null", message)
        self._extended = cached(self._extend)

    def apply(self, record: Record) -> Record:
        """Add the fields to one record; a null stays as it is. Raise DataError."""
        schema, value = self.side.schema(record), self.side.value(record)
        if value is None:
            return record
        if schema is None:
            return self._apply_schemaless(record, require_map(value, PURPOSE))
        return self._apply_with_schema(record, require_struct(value, PURPOSE))

    def _apply_schemaless(self, record: Record, value: dict[Any, Any]) -> Record:
        updated = value.copy()
        for insertion in self._insertions:
            inserted = self._inserted(insertion.source, record)
            if inserted is not None or insertion.source == TOPIC_FIELD:
                updated[insertion.name] = Int32(inserted) if insertion.source == PARTITION_FIELD else inserted
        return self.side.changed(record, None, updated)

    def _apply_with_schema(self, record: Record, value: Struct) -> Record:
        schema = self._extended(value.schema)
        values = copy_values(value, self._replace_nulls)
        values.extend([None] * len(self._insertions))
        updated = Struct.of_values(schema, values)
        for insertion in self._insertions:
            inserted = self._inserted(insertion.source, record)
            if inserted is not None or insertion.source == TOPIC_FIELD:
                is_time = insertion.source == TIMESTAMP_FIELD
                updated.put(insertion.name, Instant(inserted) if is_time else inserted)
        return self.side.changed(record, schema, updated)

    def _inserted(self, source: str, record: ConnectRecord) -> Any:
        if source == STATIC_FIELD:
            return self._static
        if source == TOPIC_FIELD:
            return record.topic
        if source == TIMESTAMP_FIELD:
            return record.timestamp
        if source == OFFSET_FIELD:
            return require_sink_record(record, PURPOSE).kafka_offset
        return record.kafka_partition

    def _extend(self, schema: Schema) -> Schema:
        builder = copy_basics(schema, SchemaBuilder.struct())
        for field in schema.fields:
            builder.field(field.name, field.schema)
        for insertion in self._insertions:
            builder.field(insertion.name, insertion.schema)
        return builder.build()

    def apply_batch(self, batch: Batch) -> Batch | None:
        """Add the columns to all rows."""
        columns = self.side.columns(batch)
        if columns is None:
            return None
        if columns.array.null_count == len(batch):
            return batch
        if not is_map(columns) or (columns.schema is not None and columns.array.null_count):
            return None
        try:
            schema = None if columns.schema is None else self._extended(columns.schema)
        except DataError:
            return None
        fields = copy_fields(columns, self._replace_nulls)
        if fields is None or not all(self._insert(insertion, schema, batch, fields) for insertion in self._insertions):
            return None
        if any(insertion.source == TIMESTAMP_FIELD for insertion in self._insertions):
            batch = replace(batch, read_time=None)
        return self.side.with_data(batch, same_rows(columns, schema, fields))

    def _insert(self, insertion: _Insertion, schema: Schema | None, batch: Batch, fields: dict[str, pa.Array]) -> bool:
        column = self._column(insertion.source, batch)
        if column is None or (column.null_count and not _may_be_null(insertion, schema, column)):
            return False
        if schema is not None:
            fields[insertion.name] = column.cast(to_arrow_type(insertion.schema))
        elif column.null_count == 0 or insertion.source == TOPIC_FIELD:
            fields[insertion.name] = column
        return True

    def _column(self, source: str, batch: Batch) -> pa.Array | None:
        if source == STATIC_FIELD:
            return pa.repeat(pa.scalar(self._static, pa.string()), len(batch))
        if source == OFFSET_FIELD:
            return None if batch.positions is not None else batch.offset
        if source == TOPIC_FIELD:
            return plain(batch.topic)
        return batch.timestamp if source == TIMESTAMP_FIELD else batch.partition


def _may_be_null(insertion: _Insertion, schema: Schema | None, column: pa.Array) -> bool:
    """Return whether records would leave the field out where the column is null, equally in all rows.

    A required field without a value raises no error here but later, on validation of the struct: records show it.
    """
    if schema is not None:
        return insertion.schema.optional
    return insertion.source == TOPIC_FIELD or column.null_count == len(column)


class InsertFieldKey(InsertField):
    """InsertField on the record's key."""

    side = KEY


class InsertFieldValue(InsertField):
    """InsertField on the record's value."""

    side = VALUE
