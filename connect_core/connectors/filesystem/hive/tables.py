"""One topic's table in a metastore: created, extended, and given partitions. Every call may be repeated."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from hive_metastore.ttypes import (
    AddPartitionsRequest,
    AlreadyExistsException,
    EnvironmentContext,
    FieldSchema,
    GetTableRequest,
    NoSuchObjectException,
    Partition,
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from thrift.Thrift import TApplicationException

from connect_core.connectors.filesystem.columns import (
    ColumnKinds,
    KindConflict,
    columns_of_texts,
    merge_columns,
    texts_of_columns,
)
from connect_core.connectors.filesystem.formats.avro.schema import avro_schema
from connect_core.connectors.filesystem.hive.config import TABLE
from connect_core.connectors.filesystem.hive.partitions import values_of
from connect_core.connectors.filesystem.hive.stored_as import StoredAs
from connect_core.connectors.filesystem.hive.table_columns import ensure_readable, table_columns, united
from connect_core.connectors.filesystem.hive.types import hive_type, kind_of_hive_type
from connect_core.errors import ConfigError, ConnectError, DataError

__all__ = ["TopicTable", "add_partitions", "ensure_table", "extended", "find_table", "has_database"]

_AT_ONCE = 250
"""Partitions per call: a call for 10,000 would take a metastore minutes, without a sign of life."""
_EXTERNAL = "EXTERNAL_TABLE"
_AVRO_SCHEMA = "avro.schema.literal"
_AVRO_COLUMNS = "connect.columns"
"""The columns in that schema, as texts: Hive's own have no capitals."""
_CHANGE = {"CASCADE": "true", "DO_NOT_UPDATE_STATS": "true"}
"""Columns are added to existing partitions too, which may receive files that have them."""


@dataclass(frozen=True, slots=True)
class TopicTable:
    """The table that a topic's files need."""

    database: str
    name: str
    location: str
    keys: tuple[str, ...]
    stored_as: StoredAs
    columns: ColumnKinds

    @property
    def full_name(self) -> str:
        """Its name with the database."""
        return f"{self.database}.{self.name}"


def find_table(client: Any, database: str, name: str) -> Table | None:
    """Return a table, ``None`` if there is none."""
    try:
        return client.get_table_req(GetTableRequest(dbName=database, tblName=name)).table
    except NoSuchObjectException:
        return None
    except TApplicationException as error:
        if error.type != TApplicationException.UNKNOWN_METHOD:
            raise
    # Hive 1 and 2 have only this call, Hive 4 only the other one.
    try:
        return client.get_table(database, name)
    except NoSuchObjectException:
        return None


def has_database(client: Any, name: str) -> bool:
    """Return whether a database exists."""
    try:
        client.get_database(name)
    except NoSuchObjectException:
        return False
    return True


def ensure_table(client: Any, wanted: TopicTable) -> Table | None:
    """Return the table, created or with new columns where needed; ``None`` if files have no column yet.

    Raises ConfigError, DataError, ConnectError.
    """
    found = find_table(client, wanted.database, wanted.name)
    if found is None and wanted.stored_as.has_columns and not wanted.columns:
        return None
    if found is None:
        found = _created(client, wanted)
    changed = extended(found, wanted)
    if changed is not None:
        client.alter_table_with_environment_context(
            wanted.database, wanted.name, changed, EnvironmentContext(properties=dict(_CHANGE))
        )
    return changed or found


def add_partitions(client: Any, table: Table, folders: Sequence[str]) -> None:
    """Add the partitions of these folders, those that exist excepted."""
    keys = [key.name.lower() for key in table.partitionKeys]
    for begin in range(0, len(folders), _AT_ONCE):
        some = folders[begin : begin + _AT_ONCE]
        parts = [_partition(table, folder, values_of(folder, keys)) for folder in some]
        request = AddPartitionsRequest(table.dbName, table.tableName, parts, ifNotExists=True, needResult=False)
        client.add_partitions_req(request)


def extended(found: Table, wanted: TopicTable) -> Table | None:
    """Return an existing table with the columns that it lacks; ``None`` if it lacks none.

    Raises ConfigError for a table of other files, DataError for types that its columns cannot take.
    """
    _ensure_ours(found, wanted)
    if not wanted.stored_as.has_columns:
        return None
    before = [(column.name.lower(), column.type) for column in found.sd.cols]
    try:
        after = _merged(before, wanted)
        properties = _avro_properties(wanted, found.parameters or {})
    except DataError as error:
        remedy = "cast the field with a transform, or set another hive.table.name and path for the new type"
        raise DataError(f"table {wanted.full_name}: {error}; {remedy}") from error
    if after == before and properties.items() <= (found.parameters or {}).items():
        return None
    changed = copy.deepcopy(found)
    changed.sd.cols = [
        FieldSchema(name, kind, comment) for (name, kind), comment in zip(after, _comments(found, after), strict=True)
    ]
    changed.parameters = {**(found.parameters or {}), **properties}
    return changed


def _created(client: Any, wanted: TopicTable) -> Table:
    if not wanted.stored_as.has_columns:
        raise ConnectError(
            f"table {wanted.full_name} does not exist, and it is not known which columns lines of "
            f"{wanted.stored_as.name} have: create it as an external table at {wanted.location}, partitioned by "
            f"{', '.join(wanted.keys)}"
        )
    # By another driver, or by somebody else: whose it is, is checked afterwards.
    with suppress(AlreadyExistsException):
        client.create_table(_table(wanted))
    found = find_table(client, wanted.database, wanted.name)
    if found is None:
        raise ConnectError(f"table {wanted.full_name} was created, and is gone; it is created again")
    return found


def _table(wanted: TopicTable) -> Table:
    stored = wanted.stored_as
    columns = [FieldSchema(name, hive_type(kind), "") for name, kind in _own_columns(wanted)]
    serde = SerDeInfo(None, stored.serde, {"serialization.format": "1", **stored.serde_properties})
    place = StorageDescriptor(columns, wanted.location, stored.input, stored.output, False, -1, serde, [], [], {})
    place.storedAsSubDirectories = False
    return Table(
        tableName=wanted.name,
        dbName=wanted.database,
        owner="connect",
        sd=place,
        partitionKeys=[FieldSchema(key, "string", "") for key in wanted.keys],
        parameters={"EXTERNAL": "TRUE", **stored.properties, **_avro_properties(wanted, {})},
        tableType=_EXTERNAL,
    )


def _own_columns(wanted: TopicTable) -> ColumnKinds:
    return table_columns(wanted.columns, wanted.keys, wanted.stored_as)


def _merged(before: list[tuple[str, str]], wanted: TopicTable) -> list[tuple[str, str]]:
    """Return names and types of a table's columns; existing ones keep their type unless it is too narrow."""
    own = _own_columns(wanted)
    if wanted.stored_as.is_positional:
        both = united([own, tuple((name, "string") for name, _ in before)], wanted.stored_as)
        return [(name, "string") for name, _ in both]
    known = tuple((name, kind_of_hive_type(kind)) for name, kind in before if name in dict(own))
    try:
        merged = merge_columns(known, own)
    except KindConflict as conflict:
        raise DataError(str(conflict)) from conflict
    for one in (known, own):
        ensure_readable(one, merged, wanted.stored_as)
    kinds = dict(merged)
    kept = dict(before)
    grown = {name: hive_type(kind) for name, kind in kinds.items() if kind != dict(known).get(name)}
    return [
        *((name, grown.get(name, kind)) for name, kind in before),
        *((n, k) for n, k in grown.items() if n not in kept),
    ]


def _avro_properties(wanted: TopicTable, given: Mapping[str, str]) -> dict[str, str]:
    """Return the schema of all Avro files so far: with names as in files, which differ from Hive's in capitals."""
    if not wanted.stored_as.has_avro_schema or (_AVRO_SCHEMA in given and _AVRO_COLUMNS not in given):
        return {}
    columns = tuple((name, kind) for name, kind in wanted.columns if name.lower() not in wanted.keys)
    before = columns_of_texts(json.loads(given.get(_AVRO_COLUMNS, "[]")))
    merged = merge_columns(before, columns)
    return {_AVRO_SCHEMA: json.dumps(avro_schema(merged)), _AVRO_COLUMNS: json.dumps(texts_of_columns(merged))}


def _ensure_ours(found: Table, wanted: TopicTable) -> None:
    keys = tuple(key.name.lower() for key in found.partitionKeys or ())
    checks = (
        (found.tableType == _EXTERNAL, f"it is of the type {found.tableType}, and not an external table"),
        (
            keys == wanted.keys,
            f"it is partitioned by {', '.join(keys) or 'nothing'}, and not by {', '.join(wanted.keys)}",
        ),
        (
            _place(found.sd.location or "") == _place(wanted.location),
            f"its files are in {found.sd.location}, and not in {wanted.location}",
        ),
        (
            not wanted.stored_as.has_columns or found.sd.inputFormat == wanted.stored_as.input,
            f"its files are read by {found.sd.inputFormat}, and these are {wanted.stored_as.name}",
        ),
    )
    wrong = next((text for is_right, text in checks if not is_right), None)
    if wrong is not None:
        text = f"this table exists and is another: {wrong}. Set another name, or drop that table (its files remain)"
        raise ConfigError(TABLE, wanted.full_name, text)


def _place(location: str) -> str:
    """Return a location in one form: metastores write some schemes in another way."""
    scheme, colon, rest = location.partition(":")
    same = {"s3": "s3a", "s3n": "s3a", "abfs": "abfss"}.get(scheme.lower(), scheme.lower())
    if not colon or same == "file":
        return "/" + re.sub("/+", "/", rest if colon else location).strip("/")
    return f"{same}:{rest.rstrip('/')}"


def _comments(found: Table, after: Sequence[tuple[str, str]]) -> list[str]:
    known = [column.comment or "" for column in found.sd.cols]
    return [*known, *([""] * (len(after) - len(known)))]


def _partition(table: Table, folder: str, values: list[str]) -> Partition:
    place = copy.copy(table.sd)
    place.location = f"{table.sd.location.rstrip('/')}/{folder}"
    return Partition(values=values, dbName=table.dbName, tableName=table.tableName, sd=place, parameters={})
