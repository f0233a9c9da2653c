"""JdbcSinkConnector: topics as tables of any SQLAlchemy database, every record exactly once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from connect_core.api.config import ConfigDef, ConfigValue
from connect_core.api.connector import WorkerLimits
from connect_core.api.guarantee import Atomicity, Delivery, Guarantee
from connect_core.api.records import TopicPartition
from connect_core.api.sink import SinkCommitter, SinkConnector
from connect_core.connectors.jdbc.address import CURRENT_SCHEMA, parse_address
from connect_core.connectors.jdbc.connection import open_database
from connect_core.connectors.jdbc.sink.checks import live_errors
from connect_core.connectors.jdbc.sink.committer import JdbcSinkCommitter
from connect_core.connectors.jdbc.sink.config import SINK_CONFIG, relation_errors, sink_settings
from connect_core.connectors.jdbc.sink.offsets import offsets_table
from connect_core.connectors.jdbc.sink.task import JdbcSinkTask

__all__ = ["JdbcSinkConnector", "JdbcSinkTask"]


class JdbcSinkConnector(SinkConnector):
    """Stores positions in the target, in the transaction of the rows (plan/README.md#targets)."""

    _config: Mapping[str, str]

    def start(self, config: Mapping[str, str]) -> None:
        """Read the configuration. Raises ConfigError."""
        self._config = dict(config)
        open_database(sink_settings(config).connection, self.context.limits)

    def stop(self) -> None:
        """Do nothing: there is nothing to release."""

    def task_class(self) -> type[JdbcSinkTask]:
        """Return the class of the tasks."""
        return JdbcSinkTask

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        """Return the same configuration for every task."""
        return [dict(self._config) for _ in range(max_tasks)]

    def config(self) -> ConfigDef:
        """Return the settings."""
        return SINK_CONFIG

    def validate(self, config: Mapping[str, str]) -> list[ConfigValue]:
        """Return every setting with its errors, including those between settings."""
        found = SINK_CONFIG.validate_all(config)
        for name, message in relation_errors(config).items():
            if not found[name].error_messages:
                found[name].error_messages.append(message)
        return list(found.values())

    def validate_live(self, config: Mapping[str, str], limits: WorkerLimits) -> Mapping[str, Sequence[str]]:
        """Check the database: connection, existence and columns of tables, rights."""
        return live_errors(config, limits)

    def guarantee(self, config: Mapping[str, str]) -> Guarantee:
        """Return exactly-once, in every mode: positions are in the transaction of the rows."""
        return Guarantee(Delivery.EXACTLY_ONCE, atomicity=Atomicity.TRANSACTION)

    def committer(self, config: Mapping[str, str]) -> SinkCommitter:
        """Return the committer that fences the target and reads its positions."""
        settings = sink_settings(config)
        database = open_database(settings.connection, self.context.limits)
        own = offsets_table(settings.offsets_table, database.dialect.column_type)
        return JdbcSinkCommitter(self.context.connector_name, self.context.deployment, database, own)

    def target(self, config: Mapping[str, str]) -> str:
        """Return the database and the table of offsets, without the login."""
        settings = sink_settings(config)
        place = parse_address(settings.connection.url)
        schema = place.parameters.get(CURRENT_SCHEMA, "")
        return f"{place.dialect}://{place.host}:{place.port}/{place.database}/{schema}/{settings.offsets_table}"

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Accept any offsets: they are moved in the target; with insert.mode=insert, rows written again are new."""
        return True
