"""Sinks into an object store that fails requests: files, an Iceberg table, a Delta table; read by other programs."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
import pyarrow.fs as fs
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.table import Table

from tests.connectors.filesystem.storages.s3.faults import FaultyStore
from tests.connectors.filesystem.storages.s3.servers import ACCESS, SECRET, S3Server
from tests.faults.exports import Export
from tests.faults.history import Findings
from tests.faults.world import World

__all__ = ["DeltaExport", "FilesExport", "IcebergExport", "StoreExport"]

_REGION = "us-east-1"
_SEQUENCE = "connect-core.sequence"
_SECONDS = 120.0
_TEXT = 40_000
"""How long the texts of partition 0 are: its files are uploaded in parts."""
_HANG_SECONDS = "700"


class StoreExport(Export):
    """A sink into a bucket: its requests pass the proxy, those of its reader do not."""

    def __init__(self, world: World, name: str, server: S3Server, proxy: FaultyStore) -> None:
        super().__init__(world, name)
        self.server = server
        self.proxy = proxy
        self.written = 0
        self._read: dict[str, list[int]] = {}

    def more(self, count: int) -> None:
        """Write more numbered values."""
        self.write(self.written, count)
        self.written += count

    def write(self, first: int, count: int, partitions: int = 2) -> None:
        """Write numbered values round the partitions; those of partition 0 are long."""
        numbers = range(first, first + count)
        self.send({number: _value(number, (number - first) % partitions == 0) for number in numbers}, partitions)

    def rows(self) -> list[int]:
        """Return the numbers a reader sees."""
        return [number for files in self.sequences().values() for numbers in files for number in numbers]

    def sequences(self) -> Mapping[str, Sequence[Sequence[int]]]:
        """Return what stands in order: the numbers in each file, by the partition they came from."""
        found: dict[str, list[list[int]]] = {}
        for file in self.files():
            for place, sequences in self.by_partition(self._numbers(file)).items():
                found.setdefault(place, []).extend(map(list, sequences))
        return found

    def clean(self, faults: int, *violations: str) -> Findings:
        """Compare, after housekeeping: an interval without a fault must leave nothing but what readers see."""
        self.proxy.fault = None
        end = time.monotonic() + _SECONDS
        while True:
            # Each interval sweeps, and may do so before the store has carried out a request that nobody waits for.
            self.more(2)
            self.await_files(self.written)
            time.sleep(2)
            if not (left := self.orphans()) or time.monotonic() > end:
                break
        told = [f"I10: {len(left)} left behind, such as {left[0]}"] if left else []
        return self.found(set(range(self.written)), faults, *violations, *told, *self.doubled())

    @abstractmethod
    def files(self) -> Iterable[str]:
        """Return the keys of the data files that a reader reads."""

    @abstractmethod
    def orphans(self) -> list[str]:
        """Return what nobody reads and nobody removes."""

    def doubled(self) -> Iterator[str]:
        """Yield what was committed twice to a table's history."""
        yield from ()

    def _numbers(self, key: str) -> list[int]:
        if key not in self._read:
            store = fs.S3FileSystem(
                access_key=ACCESS, secret_key=SECRET, endpoint_override=self.server.url, region=_REGION
            )
            with store.open_input_file(f"{self.server.bucket}/{key}") as file:
                self._read[key] = pq.ParquetFile(file).read(["n"])["n"].to_pylist()
        return self._read[key]

    def _config(self, **config: str) -> dict[str, str]:
        return {**super()._config(**config), **self._place()}

    @abstractmethod
    def _place(self) -> Mapping[str, str]:
        """Return the settings of the connector's class and place."""


class FilesExport(StoreExport):
    """A FileSystemSink."""

    def files(self) -> list[str]:
        """Return the keys of what a listing shows."""
        return [f"lake/{name}" for name in self.server.listed() if name.endswith(".parquet")]

    def orphans(self) -> list[str]:
        """Return staged objects, and uploads that are neither completed nor aborted."""
        staged = [key for key in self.server.objects() if "/+tmp/" in key]
        return staged + [f"an upload of {key}" for key in self.server.uploads()]

    def _place(self) -> Mapping[str, str]:
        store = self.server.config("lake", **{"store.url": self.proxy.url, "s3.read.timeout.ms": _HANG_SECONDS})
        return {**store, "parquet.codec": "none", "parquet.dictionary": "false"}


class _TableExport(StoreExport):
    """A sink into a table whose history tells of intervals."""

    def orphans(self) -> list[str]:
        """Return data files that the table does not name.

        Uploads whose begin was not answered are left to the bucket: neither delta-rs nor pyarrow lists them.
        """
        named = set(self.files())
        data = [key for key in self.server.objects() if key.endswith(".parquet") and "/connect/" in key]
        return [key for key in data if key not in named]

    def doubled(self) -> Iterator[str]:
        """Yield the intervals that are in the table's history twice."""
        for sequence, times in Counter(self.history()).items():
            if times > 1:
                yield f"I5: interval {sequence} was committed {times} times"

    @abstractmethod
    def history(self) -> list[str]:
        """Return the sequences of the intervals in the table's history."""


class IcebergExport(_TableExport):
    """An IcebergSink whose catalog is SQLite's."""

    def table(self) -> Table | None:
        """Return the table as pyiceberg reads it, past the proxy; none if it is not there yet."""
        catalog = SqlCatalog("iceberg", **{**self._catalog(self.server.url), "uri": f"sqlite:///{self._database}"})
        try:
            return catalog.load_table(f"db.{self.name}")
        except NoSuchTableError:
            return None

    def files(self) -> list[str]:
        """Return the keys of the files that the table's snapshot names."""
        table, start = self.table(), f"s3://{self.server.bucket}/"
        return [] if table is None else [one.file.file_path.removeprefix(start) for one in table.scan().plan_files()]

    def history(self) -> list[str]:
        """Return the sequences in the summaries of the snapshots."""
        table = self.table()
        summaries = [] if table is None else [one.summary for one in table.snapshots()]
        return [one[_SEQUENCE] or "" for one in summaries if one is not None and _SEQUENCE in one]

    @property
    def _database(self) -> str:
        return str(self.world.folder / f"{self.name}.db")

    def _catalog(self, url: str) -> dict[str, Any]:
        return {
            "warehouse": f"s3://{self.server.bucket}/lake",
            "s3.endpoint": url,
            "s3.access-key-id": ACCESS,
            "s3.secret-access-key": SECRET,
            "s3.region": _REGION,
        }

    def _place(self) -> Mapping[str, str]:
        catalog = {"uri": f"sqlite:///{self._database}", **self._catalog(self.proxy.url)}
        return {
            "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
            "iceberg.tables": f"db.{self.name}",
            "iceberg.tables.auto-create-enabled": "true",
            "iceberg.tables.auto-create-props.write.parquet.compression-codec": "uncompressed",
            **{f"iceberg.catalog.{key}": value for key, value in catalog.items()},
        }


class DeltaExport(_TableExport):
    """A DeltaSink."""

    def table(self) -> DeltaTable | None:
        """Return the table as delta-rs reads it, past the proxy; none if it is not there yet."""
        try:
            return DeltaTable(f"{self._path}/{self.topic}", storage_options=self._options(self.server.url))
        except TableNotFoundError:
            return None

    def files(self) -> list[str]:
        """Return the keys of the files that the table's newest version names."""
        table, start = self.table(), f"s3://{self.server.bucket}/"
        return [] if table is None else [uri.removeprefix(start) for uri in table.file_uris()]

    def history(self) -> list[str]:
        """Return the sequences in the table's log."""
        table = self.table()
        return [] if table is None else [one[_SEQUENCE] for one in table.history() if _SEQUENCE in one]

    @property
    def _path(self) -> str:
        return f"s3://{self.server.bucket}/lake"

    def _options(self, url: str) -> dict[str, str]:
        return {
            "aws_endpoint": url,
            "aws_access_key_id": ACCESS,
            "aws_secret_access_key": SECRET,
            "aws_region": _REGION,
            "aws_allow_http": "true",
        }

    def _place(self) -> Mapping[str, str]:
        options = {f"delta.storage.{key}": value for key, value in self._options(self.proxy.url).items()}
        return {"connector.class": "DeltaSink", "path": self._path, **options}


def _value(number: int, is_long: bool) -> bytes:
    """Return a value; a long one is hardly compressed."""
    text = "".join(str(hash((number, part)) % 10**18) for part in range(_TEXT // 18)) if is_long else ""
    return orjson.dumps({"n": number, "text": text})
