"""A sink over a topic that the test itself writes, checked by its own reader: Parquet files, or a table."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import psycopg
import pyarrow.parquet as pq

from connect_core.errors import RetriableError
from connect_core.herder.status import get_status
from connect_core.interval.values import ConnectorType, IntervalState, TargetState
from connect_core.store import Database, connectors
from connect_core.store.connectors import NewConfig
from connect_core.store.interval_history import list_intervals
from tests.faults.history import Findings
from tests.faults.order import files_out_of_order
from tests.faults.world import World

_SECONDS = 180.0
_ROW = "row_number"
_NUMBERED = "SELECT 1 FROM information_schema.columns WHERE table_name = %s AND column_name = %s"


@dataclass(slots=True)
class Export:
    """A Parquet sink over a topic that the test itself writes."""

    world: World
    name: str
    topic: str = ""
    kind: ClassVar[ConnectorType] = ConnectorType.SINK
    partition_of: dict[int, int] = field(default_factory=dict)
    """Number → the partition it was written to."""

    @property
    def path(self) -> Path:
        """Where the sink writes."""
        return self.world.folder / self.name

    def begin(self, partitions: int = 2, **config: str) -> None:
        """Create topic and connector; nothing drives it yet."""
        self.topic = self.world.topics.create(partitions)
        self.create(self.world.database, **config)

    def create(self, database: Database, **config: str) -> None:
        """Create the connector, over the topic that is there."""
        new = NewConfig(self.kind, self._config(**config))
        with database.write() as connection:
            connectors.create(connection, self.name, new, TargetState.STARTED)

    def reconfigure(self, **config: str) -> None:
        """Store another configuration."""
        with self.world.database.write() as connection:
            connectors.replace_config(
                connection, connectors.get(connection, self.name), NewConfig(ConnectorType.SINK, self._config(**config))
            )

    def write(self, first: int, count: int, partitions: int = 2) -> None:
        """Write numbered values round the partitions."""
        self.send({number: json.dumps({"n": number}).encode() for number in range(first, first + count)}, partitions)

    def send(self, values: Mapping[int, bytes], partitions: int) -> None:
        """Write the values of numbers round the partitions."""
        self.partition_of.update({number: place % partitions for place, number in enumerate(values)})
        self.world.topics.write(self.topic, list(values.values()), partitions)

    def await_files(self, rows: int, seconds: float = _SECONDS) -> list[int]:
        """Wait until the files hold so many rows → their numbers, when nothing runs any more."""
        end = time.monotonic() + seconds
        while len(self.rows()) < rows and time.monotonic() < end:
            time.sleep(0.3)
        while self._is_busy() and time.monotonic() < end:
            time.sleep(0.3)
        return self.rows()

    def await_failure(self, text: str) -> str:
        """Wait until the connector or a task of it has failed with this in its trace."""
        end, told = time.monotonic() + _SECONDS, ""
        while time.monotonic() < end:
            status = get_status(self.world.herder, self.name).to_json()
            told = " ".join(part.get("trace", "") for part in (status["connector"], *status["tasks"]))
            if text in told:
                return told
            time.sleep(0.3)
        raise TimeoutError(f"{self.name} has not failed with {text!r}, but: {told[-500:]}")

    def rows(self) -> list[int]:
        """Return the numbers a reader of the files sees."""
        return [number for files in self.sequences().values() for numbers in files for number in numbers]

    def sequences(self) -> Mapping[str, Sequence[Sequence[int]]]:
        """Return what stands in order: the numbers in each file, by the partition they came from."""
        folders = (self.path / self.topic).glob("partition=*")
        return {folder.name: [_numbers_in(file) for file in folder.glob("*.parquet")] for folder in folders}

    def by_partition(self, numbers: Iterable[int]) -> Mapping[str, Sequence[Sequence[int]]]:
        """Return one sequence for each partition that the numbers came from."""
        found: dict[str, list[int]] = {}
        for number in numbers:
            found.setdefault(f"partition {self.partition_of.get(number)}", []).append(number)
        return {name: [some] for name, some in found.items()}

    def found(self, expected: set[int], faults: int, *violations: str) -> Findings:
        """Compare what the files hold with what they must hold."""
        began = time.monotonic()
        rows = self.await_files(len(expected))
        seconds = time.monotonic() - began
        self.world.end_drivers()
        counts = Counter(rows)
        strange = counts.keys() - expected
        mixed = (f"I3: lines of {place} stand out of order" for place in files_out_of_order(self.sequences()))
        told = (*violations, *([f"{len(strange)} rows that must not be there"] if strange else []), *mixed)
        repeated = sum(counts.values()) - len(counts)
        return Findings(faults, len(expected), len(expected - counts.keys()), repeated, told, seconds)

    def _is_busy(self) -> bool:
        try:
            with self.world.database.read() as connection:
                states = {one.row.state for one in list_intervals(connection, self.name, 5)}
        except RetriableError:
            return True
        return bool(states - {IntervalState.COMMITTED, IntervalState.ABANDONED})

    def _config(self, **config: str) -> dict[str, str]:
        return {
            "name": self.name,
            "connector.class": "FileSystemSink",
            "tasks.max": "2",
            "topics": self.topic,
            "path": str(self.path),
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "false",
            **{key.replace("__", "."): value for key, value in config.items()},
        }


def _numbers_in(file: Path) -> list[int]:
    numbers: list[int] = pq.ParquetFile(file).read(["n"])["n"].to_pylist()
    return numbers


class LineExport(Export):
    """A ``FileStreamSink`` into one file."""

    def sequences(self) -> Mapping[str, Sequence[Sequence[int]]]:
        """Return the numbers of each partition, in the order of the file's lines."""
        file = self.path.with_suffix(".txt")
        lines = file.read_text().splitlines() if file.exists() else []
        return self.by_partition(int(line.removeprefix("{n=").removesuffix("}")) for line in lines)

    def _config(self, **config: str) -> dict[str, str]:
        own = {"connector.class": "FileStreamSink", "file": str(self.path.with_suffix(".txt"))}
        found = {**super()._config(**config), **own, "interval.max.records": "400"}
        del found["path"]
        return found


class TableExport(Export):
    """A JDBC sink into a table of the stack's PostgreSQL, beside the metadata."""

    @property
    def url(self) -> str:
        """The JDBC URL of the database."""
        path = urlsplit(self.world.environment["CONNECT_DATABASE_URL"]).path
        return f"jdbc:postgresql://127.0.0.1:{self.world.stack.service('postgres').port}{path}"

    def connect(self) -> psycopg.Connection:
        """Return a connection of the table's owner, past the proxy."""
        url = self.world.environment["CONNECT_DATABASE_URL"].replace("+psycopg", "")
        return psycopg.connect(url, autocommit=True)

    def sequences(self) -> Mapping[str, Sequence[Sequence[int]]]:
        """Return the numbers of each partition as the table numbered them; nothing where it numbers none."""
        with self.connect() as connection:
            found = connection.execute(_NUMBERED, (self.topic, _ROW)).fetchone()
        rows = sorted(self.select(f"{_ROW}, n")) if found else []
        return self.by_partition(number for _, number in rows)

    def rows(self) -> list[int]:
        """Return the numbers a reader of the table sees."""
        return [number for (number,) in self.select("n")]

    def select(self, columns: str) -> list[tuple[Any, ...]]:
        """Return columns of all rows; nothing where there is no table yet."""
        try:
            with self.connect() as connection:
                return connection.execute(f'SELECT {columns} FROM "{self.topic}"').fetchall()
        except (psycopg.errors.UndefinedTable, psycopg.OperationalError):
            return []

    def write(self, first: int, count: int, partitions: int = 2) -> None:
        """Write numbered values with a schema round the partitions."""
        self.send({one: described({"n": "int64"}, {"n": one}) for one in range(first, first + count)}, partitions)

    def _config(self, **config: str) -> dict[str, str]:
        url = urlsplit(self.world.environment["CONNECT_DATABASE_URL"])
        found = {
            **super()._config(),
            "connector.class": "JdbcSink",
            "connection.url": self.url,
            "connection.user": url.username or "",
            "connection.password": url.password or "",
            "value.converter.schemas.enable": "true",
            "auto.create": "true",
            "interval.max.records": "400",
            **{key.replace("__", "."): value for key, value in config.items()},
        }
        del found["path"]
        return found


class NumberedTable(TableExport):
    """A table that numbers its rows as they come, so that their order is seen."""

    def begin(self, partitions: int = 2, **config: str) -> None:
        """Create the table as well."""
        super().begin(partitions, **config)
        with self.connect() as connection:
            connection.execute(f'CREATE TABLE "{self.topic}" (n bigint NOT NULL, {_ROW} bigserial)')


def described(types: Mapping[str, str], payload: Mapping[str, Any]) -> bytes:
    """Return JSON with its schema, as Connect's JsonConverter reads it; every field but ``n`` is optional."""
    fields = [{"field": name, "type": kind, "optional": name != "n"} for name, kind in types.items()]
    schema = {"type": "struct", "name": "row", "optional": False, "fields": fields}
    return json.dumps({"schema": schema, "payload": payload}).encode()
