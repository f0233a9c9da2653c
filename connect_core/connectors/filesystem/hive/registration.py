"""What the committer does for the tables of an interval's files."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from connect_core.api.connector import WorkerLimits
from connect_core.connectors.filesystem.columns import ColumnKinds, columns_of_texts, texts_of_columns
from connect_core.connectors.filesystem.hive.config import DATABASE, INTEGRATION, URIS, HiveSettings
from connect_core.connectors.filesystem.hive.partitions import folders_of
from connect_core.connectors.filesystem.hive.table_columns import table_columns, united
from connect_core.connectors.lake.installed import ensure_installed
from connect_core.errors import ConnectError, DataError, RetriableError

if TYPE_CHECKING:
    from connect_core.connectors.filesystem.hive.tables import TopicTable

__all__ = ["Registration", "ensure_hive_installed"]

_LOG = logging.getLogger(__name__)

Files = Sequence[Mapping[str, Any]]
Address = Callable[[str], str]


def ensure_hive_installed() -> None:
    """Raise ConnectError naming the extra if the metastore's client is missing."""
    for package in ("thrift", "hive_metastore"):
        ensure_installed(package, INTEGRATION, "hive")


@dataclass(frozen=True, slots=True)
class Registration:
    """Registers the files that a manifest names; what it needs for that is in the manifest.

    ``address``: takes a name below the storage's root → its URL or path.
    """

    settings: HiveSettings
    limits: WorkerLimits
    address: Address

    def content(self, columns: Mapping[str, Sequence[ColumnKinds]], homes: Mapping[str, str]) -> dict[str, Any]:
        """Return what a manifest tells of tables, for the columns of each topic's files, and its folder.

        Raises DataError or ConfigError, before anything is committed, for files that their table cannot take: of a
        metastore that does not respond, this is found when they are registered.
        """
        tables = {topic: self._described(topic, columns[topic], homes[topic]) for topic in sorted(columns)}
        names = [table["table"] for table in tables.values()]
        twice = next((topic for topic, table in tables.items() if names.count(table["table"]) > 1), None)
        if twice is not None:
            raise DataError(
                f"topic {twice}: another topic has the table {tables[twice]['table']} as well; route one away"
            )
        told = {"database": self.settings.database, "keys": list(self.settings.keys), "tables": tables}
        self._check(told)
        return told

    def register(self, content: Mapping[str, Any], files: Files) -> None:
        """Create or extend the tables of a manifest, and add partitions; idempotent.

        Raises RetriableError if no metastore responds, ConnectError for a table that cannot take the files.
        """
        from connect_core.connectors.filesystem.hive.client import with_metastore
        from connect_core.connectors.filesystem.hive.tables import add_partitions, ensure_table

        def act(client: Any) -> None:
            for topic, wanted in self._tables(content):
                table = ensure_table(client, wanted)
                if table is not None:
                    add_partitions(client, table, folders_of(file for file in files if file["topic"] == topic))

        with_metastore(self.settings, self.limits, act)

    def problems(self) -> dict[str, list[str]]:
        """Return what would stop it now, by setting: no library, no metastore, no database."""
        try:
            ensure_hive_installed()
        except ConnectError as error:
            return {INTEGRATION: [str(error)]}
        from connect_core.connectors.filesystem.hive.client import with_metastore
        from connect_core.connectors.filesystem.hive.tables import has_database

        try:
            exists = with_metastore(
                self.settings, self.limits, lambda client: has_database(client, self.settings.database)
            )
        except ConnectError as error:
            return {URIS: [f"{error}. Check the address, and that the metastore needs no login."]}
        if not exists:
            return {DATABASE: [f"the metastore has no database {self.settings.database}; create it, or name another"]}
        return {}

    def _described(self, topic: str, columns: Sequence[ColumnKinds], home: str) -> dict[str, Any]:
        table, stored_as = self.settings.table_of(topic), self.settings.stored_as
        if not stored_as.has_columns:
            return {"table": table, "home": home, "columns": []}
        try:
            merged = united(columns, stored_as)
            table_columns(merged, self.settings.keys, stored_as)
        except DataError as error:
            raise DataError(f"topic {topic}, for its table {self.settings.database}.{table}: {error}") from error
        return {"table": table, "home": home, "columns": texts_of_columns(merged)}

    def _check(self, content: Mapping[str, Any]) -> None:
        from connect_core.connectors.filesystem.hive.client import with_metastore
        from connect_core.connectors.filesystem.hive.tables import extended, find_table

        def act(client: Any) -> None:
            for _, wanted in self._tables(content):
                found = find_table(client, wanted.database, wanted.name)
                if found is not None:
                    extended(found, wanted)

        try:
            with_metastore(self.settings, self.limits, act)
        except RetriableError as error:
            _LOG.warning("The tables are checked when files are registered, after they are committed: %s", error)

    def _tables(self, content: Mapping[str, Any]) -> list[tuple[str, TopicTable]]:
        from connect_core.connectors.filesystem.hive.tables import TopicTable

        database, keys = content["database"], tuple(content["keys"])
        return [
            (
                topic,
                TopicTable(
                    database,
                    table["table"],
                    _location(self.address(table["home"])),
                    keys,
                    self.settings.stored_as,
                    columns_of_texts(table["columns"]),
                ),
            )
            for topic, table in content["tables"].items()
        ]


def _location(address: str) -> str:
    """Return an address as Hive's readers write it: not encoded, and with Hadoop's scheme for S3."""
    if "://" not in address:
        return f"file://{address}"
    return f"s3a{address[2:]}" if address.startswith("s3://") else address
