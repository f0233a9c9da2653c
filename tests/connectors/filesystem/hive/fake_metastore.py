"""A metastore in this process that fails when asked to, behind a real Thrift server.

Left out: checks of names, types and locations, the file system (no folder is created), statistics, events, locks,
and what Hive 4 changed. The tests against a real metastore are for these.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hive_metastore.ThriftHiveMetastore import Processor
from hive_metastore.ttypes import (
    AddPartitionsRequest,
    AddPartitionsResult,
    AlreadyExistsException,
    Database,
    EnvironmentContext,
    GetTableRequest,
    GetTableResult,
    NoSuchObjectException,
    Partition,
    Table,
)
from thrift.protocol.TBinaryProtocol import TBinaryProtocolFactory
from thrift.transport.TSocket import TServerSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException

__all__ = ["FakeMetastore", "serving"]


class FakeMetastore:
    """Tables and partitions in memory, and the calls that were made.

    ``faults``: name of a call → what is raised, before its work, or after it (``name:after``); once each.
    """

    def __init__(self) -> None:
        self.tables: dict[str, Table] = {}
        self.partitions: dict[str, dict[tuple[str, ...], Partition]] = {}
        self.calls: list[str] = []
        self.faults: dict[str, BaseException] = {}

    def get_database(self, name: str) -> Database:
        with self._call("get_database"):
            if name != "default":
                raise NoSuchObjectException(f"database {name}")
            return Database(name)

    def get_table_req(self, request: GetTableRequest) -> GetTableResult:
        with self._call("get_table_req"):
            if request.tblName not in self.tables:
                raise NoSuchObjectException(f"table {request.tblName}")
            return GetTableResult(copy.deepcopy(self.tables[request.tblName]))

    def get_table(self, database: str, name: str) -> Table:
        with self._call("get_table"):
            if name not in self.tables:
                raise NoSuchObjectException(f"table {name}")
            return copy.deepcopy(self.tables[name])

    def create_table(self, table: Table) -> None:
        with self._call("create_table"):
            if table.tableName in self.tables:
                raise AlreadyExistsException(table.tableName)
            self.tables[table.tableName] = table
            self.partitions[table.tableName] = {}

    def alter_table_with_environment_context(
        self, database: str, name: str, table: Table, context: EnvironmentContext
    ) -> None:
        with self._call("alter_table"):
            self.tables[name] = table
            if context.properties.get("CASCADE") == "true":
                for partition in self.partitions[name].values():
                    partition.sd.cols = table.sd.cols

    def add_partitions_req(self, request: AddPartitionsRequest) -> AddPartitionsResult:
        with self._call("add_partitions"):
            assert request.ifNotExists
            known = self.partitions[request.tblName]
            for partition in request.parts:
                known.setdefault(tuple(partition.values), partition)
            return AddPartitionsResult()

    def columns(self, table: str) -> dict[str, str]:
        """The names and types of a table's columns."""
        return {column.name: column.type for column in self.tables[table].sd.cols}

    def _call(self, name: str) -> _Call:
        self.calls.append(name)
        return _Call(self.faults, name)


class _Call:
    """Not a generator: these cannot pass on exceptions of pyiceberg's stubs, which are immutable."""

    def __init__(self, faults: dict[str, BaseException], name: str) -> None:
        self._faults, self._name = faults, name

    def __enter__(self) -> None:
        if self._name in self._faults:
            raise self._faults.pop(self._name)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if error is None and f"{self._name}:after" in self._faults:
            raise self._faults.pop(f"{self._name}:after")


@contextmanager
def serving(handler: FakeMetastore, processor: Any = None) -> Iterator[int]:
    """Serve calls on loopback until the block ends → the port; ``processor``: what answers instead of Thrift's."""
    listening = TServerSocket("127.0.0.1", 0)
    listening.listen()
    port: int = listening.handle.getsockname()[1]
    threading.Thread(target=_accept, args=(listening, processor or Processor(handler)), daemon=True).start()
    try:
        yield port
    finally:
        listening.close()


def _accept(listening: TServerSocket, processor: Any) -> None:
    while True:
        try:
            connection = listening.accept()
        except (OSError, AttributeError):
            return
        if connection is not None:
            threading.Thread(target=_serve, args=(connection, processor), daemon=True).start()


def _serve(connection: Any, processor: Any) -> None:
    protocol = TBinaryProtocolFactory().getProtocol(TBufferedTransport(connection))
    try:
        while True:
            processor.process(protocol, protocol)
    except (TTransportException, OSError):
        connection.close()
