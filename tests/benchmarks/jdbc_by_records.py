"""The JDBC source without its columns: what the record lane alone does; installed as a distribution of its own."""

from __future__ import annotations

from connect_core.api.batch import Batch
from connect_core.api.source import SourceTask
from connect_core.connectors.jdbc.source import JdbcSourceConnector
from connect_core.connectors.jdbc.source_task import JdbcSourceTask


class RecordsSourceTask(JdbcSourceTask):
    """Gives records only."""

    def poll_batch(self) -> Batch | None:
        return None


class RecordsSource(JdbcSourceConnector):
    """JdbcSource, record by record."""

    def task_class(self) -> type[SourceTask]:
        return RecordsSourceTask
