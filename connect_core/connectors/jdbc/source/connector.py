"""JdbcSource: rows of a database's tables, or of a query, into Kafka."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from connect_core.api.config import ConfigDef, ConfigValue
from connect_core.api.connector import WorkerLimits
from connect_core.api.guarantee import Delivery, Guarantee
from connect_core.api.offsets import canonical, parse
from connect_core.api.partitions import group_partitions
from connect_core.api.source import ExactlyOnceSupport, SourceConnector, WrittenSchemas
from connect_core.connectors.jdbc.connection import JdbcDatabase, open_database
from connect_core.connectors.jdbc.source.assignment import stream_names
from connect_core.connectors.jdbc.source.bounds import now_millis
from connect_core.connectors.jdbc.source.checks import check_live, written_schemas
from connect_core.connectors.jdbc.source.config import (
    QUERY,
    SOURCE_CONFIG,
    TASK_SINCE,
    TASK_STREAMS,
    Mode,
    SourceSettings,
    contradictions,
    parsed_settings,
    source_settings,
)
from connect_core.connectors.jdbc.source.guarantee import guarantee_of
from connect_core.connectors.jdbc.source.latest_bounds import LatestBounds
from connect_core.connectors.jdbc.source.positions import INCREMENTING, TIMESTAMP, TIMESTAMP_NANOS
from connect_core.connectors.jdbc.source.query_right import check_query_right
from connect_core.connectors.jdbc.source.row_reader import reading
from connect_core.connectors.jdbc.source.stream import StreamName, names_to_json
from connect_core.connectors.jdbc.source.task import JdbcSourceTask
from connect_core.errors import ConfigError, ConnectError

__all__ = ["JdbcSourceConnector"]

_LOG = logging.getLogger(__name__)


class JdbcSourceConnector(SourceConnector):
    """Reads tables by a mode that finds new rows. Connect's JDBC source: ``JdbcSourceConnector``."""

    _config: Mapping[str, str]
    _settings: SourceSettings
    _database: JdbcDatabase
    _bounds: LatestBounds

    def start(self, config: Mapping[str, str]) -> None:
        """Read the configuration, without connecting yet. Raises ConfigError."""
        self._config = dict(config)
        self._settings = source_settings(config)
        check_query_right(self._settings, self.context.limits)
        self._database = open_database(self._settings.connection, self.context.limits)
        self._since = now_millis()
        most = int(config.get("tasks.max") or 1)
        self._bounds = LatestBounds(self._database, self._settings, most, self._since)

    def stop(self) -> None:
        """Do nothing: no connection is held between calls."""

    def task_class(self) -> type[JdbcSourceTask]:
        """Return the class of the tasks."""
        return JdbcSourceTask

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        """Return the current tables, assigned to at most ``max_tasks`` tasks. Raises RetriableError."""
        with reading(self._database) as connection:
            names = stream_names(connection, self._database.dialect, self._settings, max_tasks)
        _warn_of_shared_topics(names)
        if not names:
            _LOG.warning("No table of %s matches yet", self._database.place)
            return []
        since = str(self._since) if self._settings.timestamp_initial == -1 else ""
        groups = group_partitions(names, min(max_tasks, len(names)))
        return [{**self._config, TASK_STREAMS: names_to_json(group), TASK_SINCE: since} for group in groups]

    def config(self) -> ConfigDef:
        """Return the settings."""
        return SOURCE_CONFIG

    def validate(self, config: Mapping[str, str]) -> list[ConfigValue]:
        """Return every setting with its errors, including those of settings that contradict each other."""
        values = super().validate(config)
        if not any(value.error_messages for value in values):
            try:
                found = list(contradictions(parsed_settings(config)))
            except ConfigError as error:
                found = [("mode", error)]
            for value in values:
                value.error_messages += [str(error) for key, error in found if key == value.name]
        return values

    def validate_live(self, config: Mapping[str, str], limits: WorkerLimits) -> Mapping[str, Sequence[str]]:
        """Check the database: connection, existence of tables and columns, rights."""
        settings = source_settings(config)
        try:
            check_query_right(settings, limits)
        except ConfigError as error:
            return {QUERY: [str(error)]}
        return check_live(settings, limits)

    def written_schemas(self, config: Mapping[str, str], limits: WorkerLimits) -> Mapping[str, WrittenSchemas]:
        """Return the topics of the present tables, or of the query."""
        return written_schemas(source_settings(config), limits)

    def latest(self, offsets: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
        """Return the position up to which each stream can be read now. Raises RetriableError."""
        return self._bounds.latest(offsets, self.context.offset_states, time.monotonic())

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport | None:
        """Return SUPPORTED if an interrupted reading can be continued; in mode bulk that requires primary keys."""
        settings = source_settings(config)
        if settings.mode is Mode.BULK:
            return ExactlyOnceSupport.UNSUPPORTED if settings.query else None
        is_exact = guarantee_of(settings).delivery is Delivery.EXACTLY_ONCE
        return ExactlyOnceSupport.SUPPORTED if is_exact else ExactlyOnceSupport.UNSUPPORTED

    def guarantee(self, config: Mapping[str, str]) -> Guarantee:
        """Return the guarantee of this configuration, with its condition on the writers of the rows."""
        return guarantee_of(source_settings(config))

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[str, Mapping[str, Any] | None]) -> bool:
        """Check the form of new offsets; any may be deleted."""
        for key, offset in offsets.items():
            if offset is not None:
                _check_altered(parse(key), offset)
        return True


def _check_altered(partition: Mapping[str, Any], offset: Mapping[str, Any]) -> None:
    if not ({"query", "table"} & set(partition)):
        raise ConnectError(
            f'A partition {canonical(partition)} needs the key "table" (with "protocol": "1") or "query"'
        )
    for name in (INCREMENTING, TIMESTAMP, TIMESTAMP_NANOS):
        value = offset.get(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise ConnectError(f"The offset's {name} must be a whole number, not {value!r}")


def _warn_of_shared_topics(names: Sequence[StreamName]) -> None:
    tables: dict[str, set[str]] = defaultdict(set)
    for name in names:
        if name.table is not None:
            tables[name.table.name].add(str(name.table))
    for found in tables.values():
        if len(found) > 1:
            _LOG.warning("Tables %s share one topic; set schema.pattern to keep them apart", ", ".join(sorted(found)))
