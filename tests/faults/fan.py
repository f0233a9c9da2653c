"""One source whose topic goes to three sinks: Parquet, a file of lines, a table."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from connect_core.interval.values import ConnectorType
from tests.faults.history import Findings, History, compared, number_of
from tests.faults.order import partitions_out_of_order

__all__ = ["Fan"]

_SCHEMAS = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "true",
}
"""A table needs them."""
_MOST_WAITING = 8000
"""More lines than that are not written ahead of the slowest sink."""


@dataclass(slots=True)
class Fan(History):
    """A history with two more sinks over its topic, each checked as Parquet is."""

    _over: threading.Event = field(default_factory=threading.Event)

    @property
    def connectors(self) -> tuple[str, ...]:
        """The names of all connectors, the source first."""
        return (self.source, self.sink, self.lines_sink, self.table_sink)

    @property
    def lines_sink(self) -> str:
        """The name of the sink into a file of lines."""
        return f"{self.name}-lines"

    @property
    def table_sink(self) -> str:
        """The name of the sink into a table."""
        return f"{self.name}-table"

    @property
    def lines_file(self) -> Path:
        """Where the sink of lines writes."""
        return self.world.folder / f"{self.name}-lines.txt"

    def begin(self, **source: str) -> None:
        """Create topic, table, connectors and drivers; ``source`` are more settings of the source."""
        self.topic = self.world.topics.create(self.partitions)
        with self._database() as connection:
            connection.execute(f'CREATE TABLE "{self.topic}" (line text NOT NULL, row_number bigserial)')
        self._create(self.lines_sink, ConnectorType.SINK, self._config(self.lines_sink, self._lines()))
        self._create(self.table_sink, ConnectorType.SINK, self._config(self.table_sink, self._table()))
        History.begin(self, **_SCHEMAS, **source)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Append lines for as long as the block runs: brokers come back when they do, not when the lines end."""
        writer = threading.Thread(target=self._write, daemon=True)
        writer.start()
        try:
            yield
        finally:
            self._over.set()
            writer.join()

    def _write(self) -> None:
        while not self._over.wait(self.world.pause_seconds):
            # On a slow machine lines would come faster than they go.
            if self.written - min(self._moved(name) for name in self.connectors) < _MOST_WAITING:
                self._append()

    def sink_config(self) -> dict[str, str]:
        """Return the configuration of the sink to Parquet."""
        return {**History.sink_config(self), **_SCHEMAS}

    def checked(self, faults: int) -> Findings:
        """Compare what all sinks hold with what was written."""
        found = History.checked(self, faults)
        for place, numbers in (("file of lines", self.in_lines()), ("table", self.in_table())):
            lost, repeated = compared(numbers, range(self.written))
            found = replace(found, lost=found.lost + lost, repeated=found.repeated + repeated)
            found = found.with_violations(*self._out_of_order(place, numbers))
        return found

    def in_lines(self) -> list[int]:
        """Return the numbers in the file of lines, in its order."""
        return [int(line.rstrip("}").split()[-1]) for line in self.lines_file.read_text().splitlines()]

    def in_table(self) -> list[int]:
        """Return the numbers in the table, in the order in which it numbered its rows."""
        with self._database() as connection:
            rows = connection.execute(f'SELECT line FROM "{self.topic}" ORDER BY row_number').fetchall()
        return [int(line.split()[1]) for (line,) in rows]

    def _out_of_order(self, place: str, numbers: Sequence[int]) -> Iterator[str]:
        partition_of = {number_of(value): partition for partition, value in self.world.topics.placed(self.topic)}
        placed = ((partition_of.get(number, -1), number) for number in numbers)
        for partition in partitions_out_of_order(placed):
            yield f"I3: the {place} holds lines of partition {partition} out of order"

    def _config(self, name: str, own: dict[str, str]) -> dict[str, str]:
        every = {"name": name, "tasks.max": str(self.tasks), "topics": self.topic, "interval.max.records": "6000"}
        return {**every, **_SCHEMAS, **own}

    def _lines(self) -> dict[str, str]:
        return {"connector.class": "FileStreamSink", "file": str(self.lines_file)}

    def _table(self) -> dict[str, str]:
        url = urlsplit(self.world.environment["CONNECT_DATABASE_URL"])
        place = f"127.0.0.1:{self.world.stack.service('postgres').port}{url.path}"
        return {
            "connector.class": "JdbcSink",
            "connection.url": f"jdbc:postgresql://{place}",
            "connection.user": url.username or "",
            "connection.password": url.password or "",
        }

    def _database(self) -> psycopg.Connection:
        url = self.world.environment["CONNECT_DATABASE_URL"].replace("+psycopg", "")
        return psycopg.connect(url, autocommit=True)
