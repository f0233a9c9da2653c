"""The JDBC connectors without their columns: all goes record by record. Installed as a distribution of its own."""

from __future__ import annotations

from connect_core.api.batch import Batch
from connect_core.connectors.jdbc.sink.connector import JdbcSinkConnector
from connect_core.connectors.jdbc.sink.task import JdbcSinkTask
from connect_core.connectors.jdbc.source.connector import JdbcSourceConnector
from connect_core.connectors.jdbc.source.task import JdbcSourceTask


class RecordsSourceTask(JdbcSourceTask):
    """Gives records only."""

    def poll_batch(self) -> Batch | None:
        return None


class RecordsSource(JdbcSourceConnector):
    """JdbcSource, record by record."""

    def task_class(self) -> type[RecordsSourceTask]:
        return RecordsSourceTask


class RecordsSinkTask(JdbcSinkTask):
    """Takes records only, one by one."""

    def put_batch(self, batch: Batch) -> bool:
        return False


class RecordsSink(JdbcSinkConnector):
    """JdbcSink, record by record."""

    def task_class(self) -> type[RecordsSinkTask]:
        return RecordsSinkTask
