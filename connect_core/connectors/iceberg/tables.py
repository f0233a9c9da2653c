"""Finds or creates tables for tasks, and evolves their columns."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError, TableAlreadyExistsError
from pyiceberg.io.pyarrow import sanitize_column_names, schema_to_pyarrow
from pyiceberg.partitioning import PARTITION_FIELD_ID_START, PartitionField, PartitionSpec
from pyiceberg.schema import Schema, assign_fresh_schema_ids, index_by_name
from pyiceberg.table import Table
from pyiceberg.transforms import parse_transform

from connect_core.api.connector import WorkerLimits
from connect_core.connectors.iceberg.catalog import catalog_errors, create_namespaces
from connect_core.connectors.iceberg.catalog_properties import ensure_allowed_location
from connect_core.connectors.iceberg.config import AUTO_CREATE, PARTITION_BY, Settings
from connect_core.connectors.lake.key_columns import key_columns_of
from connect_core.connectors.lake.routing import TableName
from connect_core.connectors.lake.types import creatable, merged_schema, plain_field
from connect_core.errors import ConfigError, ConnectError, DataError, RetriableError

__all__ = ["Tables", "columns_of", "ensure_keys", "ensure_nameable", "ensure_readable", "identifiers_of"]

_TRIES = 20
_PAUSE = 0.05


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of one catalog."""

    catalog: Catalog
    settings: Settings
    limits: WorkerLimits

    def find(self, name: TableName) -> Table | None:
        """Return a table, ``None`` if there is none. Raises ConfigError for one that may not be written."""
        with catalog_errors(f"table {'.'.join(name)}"):
            try:
                table = self.catalog.load_table(name)
            except NoSuchTableError:
                return None
        ensure_allowed_location(table.location(), self.limits)
        if table.format_version > 2:
            raise ConnectError(f"table {'.'.join(name)} has format version {table.format_version}; 1 and 2 are written")
        return table

    def grown(self, name: TableName, wanted: pa.Schema) -> Table:
        """Return the table with at least these columns, created or evolved if that is allowed.

        Raises ConfigError, DataError if columns conflict with those that another task has created meanwhile.
        """
        for number in range(_TRIES):
            table = self.find(name)
            try:
                if table is None:
                    self._create(name, wanted)
                elif not self._evolve(table, wanted):
                    return table
            except (CommitFailedException, TableAlreadyExistsError):
                time.sleep(_PAUSE * number)
        raise RetriableError(f"table {'.'.join(name)} was changed by others {_TRIES} times while columns were added")

    def _create(self, name: TableName, wanted: pa.Schema) -> None:
        if not self.settings.creates:
            text = f"table {'.'.join(name)} does not exist: create it, or let {AUTO_CREATE}=true do so"
            raise ConfigError(AUTO_CREATE, "false", text)
        key = self.settings.of_table(name).key if self.settings.lake.upserts else ()
        schema = _identified(
            assign_fresh_schema_ids(_iceberg(creatable(wanted))), key, self.settings.evolution.ignores_case
        )
        properties = dict(self.settings.create_properties)
        with catalog_errors(f"table {'.'.join(name)}"):
            create_namespaces(self.catalog, name)
            self.catalog.create_table(name, schema, partition_spec=self._spec(name, schema), properties=properties)

    def _evolve(self, table: Table, wanted: pa.Schema) -> bool:
        """Add the missing columns → whether any were missing."""
        existing = columns_of(table)
        merged = merged_schema(existing, wanted, self.settings.evolution)
        if merged.equals(existing):
            return False
        with catalog_errors(f"table {'.'.join(table.name())}"):
            _union(table, merged, not self.settings.evolution.ignores_case)
        return True

    def _spec(self, name: TableName, schema: Schema) -> PartitionSpec:
        fields = []
        for number, part in enumerate(self.settings.of_table(name).partitions):
            column = next((one for one in schema.fields if one.name == part.column), None)
            if column is None:
                text = f"the records for table {'.'.join(name)} have no field of this name to partition by"
                raise ConfigError(PARTITION_BY, part.column, text)
            transform = parse_transform(part.transform)
            if not transform.can_transform(column.field_type):
                raise ConfigError(PARTITION_BY, part.column, f"{part.transform} does not take {column.field_type}")
            fields.append(PartitionField(column.field_id, PARTITION_FIELD_ID_START + number, transform, part.name))
        return PartitionSpec(*fields)


def columns_of(table: Table) -> pa.Schema:
    """Return a table's columns in Arrow's types, without field ids."""
    schema = schema_to_pyarrow(table.schema(), include_field_ids=False)
    return pa.schema([plain_field(part) for part in schema])


def ensure_nameable(columns: pa.Schema) -> None:
    """Raise DataError for columns of which two have one name, by the path of nested fields or as files spell it."""
    try:
        schema = assign_fresh_schema_ids(_iceberg(creatable(columns)))
        index_by_name(schema)
        index_by_name(sanitize_column_names(schema))
    except ValueError as error:
        raise DataError(
            f"fields cannot be columns of one Iceberg table: {error}; rename one by the transform ReplaceField"
        ) from error


def ensure_keys(tables: Tables, names: Sequence[TableName]) -> None:
    """Check that rows of these tables can be found by their keys, if they are to be updated.

    Raises ConfigError for a key that a table does not have, ConnectError for a table that cannot be updated.
    """
    for name in names if tables.settings.lake.upserts else ():
        table = tables.find(name)
        own = () if table is None else identifiers_of(table)
        key_columns_of(
            ".".join(name), tables.settings.key_setting(name), None if table is None else columns_of(table), own
        )
        if table is not None:
            ensure_readable(table)


def ensure_readable(table: Table) -> None:
    """Raise ConnectError for a table with deletions that cannot be read, and so not be kept in copies of its files."""
    snapshot = table.current_snapshot()
    told = {} if snapshot is None or snapshot.summary is None else snapshot.summary.additional_properties
    if told.get("total-equality-deletes", "0") != "0":
        raise ConnectError(
            f"table {'.'.join(table.name())} has equality deletes, as Flink and Apache's sink write them, which "
            "pyiceberg does not read: rewrite its data files once, by Spark's rewrite_data_files with "
            "delete-file-threshold 1"
        )


def identifiers_of(table: Table) -> tuple[str, ...]:
    """Return the columns that identify a row, as the table declares."""
    fields = table.schema().identifier_field_ids
    return tuple(part.name for part in table.schema().fields if part.field_id in fields)


def _identified(schema: Schema, key: Sequence[str], ignores_case: bool) -> Schema:
    """Return the schema with the key's columns as required identifier fields."""
    wanted = {name.lower() if ignores_case else name for name in key}
    found = {part.field_id for part in schema.fields if (part.name.lower() if ignores_case else part.name) in wanted}
    fields = [part.model_copy(update={"required": True}) if part.field_id in found else part for part in schema.fields]
    return Schema(*fields, identifier_field_ids=sorted(found))


def _union(table: Table, merged: pa.Schema, is_case_sensitive: bool) -> None:
    try:
        with table.update_schema(case_sensitive=is_case_sensitive) as update:
            update.union_by_name(merged)
    except ValueError as error:
        raise DataError(f"table {'.'.join(table.name())} cannot take the records' columns: {error}") from error


def _iceberg(schema: pa.Schema) -> Schema:
    return Catalog._convert_schema_if_needed(schema)
