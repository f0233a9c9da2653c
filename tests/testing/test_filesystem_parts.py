"""Every built-in format, partitioner and storage keeps its contract."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from connect_core.api import SinkRecord, WorkerLimits
from connect_core.api.data import BYTES_SCHEMA, STRING_SCHEMA
from connect_core.connectors.filesystem.formats import (
    AvroFormat,
    CsvFormat,
    EnvelopeFormat,
    JsonLinesFormat,
    OrcFormat,
    ParquetFormat,
    PlainFormat,
    RawFormat,
)
from connect_core.connectors.filesystem.partitioners import (
    DailyPartitioner,
    DefaultPartitioner,
    FieldPartitioner,
    HourlyPartitioner,
    TimeBasedPartitioner,
)
from connect_core.connectors.filesystem.storages import LocalStorage, SourceFiles
from connect_core.testing import FormatContract, PartitionerContract, StorageContract, sink_records


class TestParquet(FormatContract):
    format = ParquetFormat

    def contents(self, data: bytes) -> Any:
        return pq.read_table(pa.BufferReader(data)).to_pylist()


class TestOrc(FormatContract):
    format = OrcFormat

    def contents(self, data: bytes) -> Any:
        return orc.ORCFile(pa.BufferReader(data)).read().to_pylist()


class TestAvro(FormatContract):
    format = AvroFormat

    def contents(self, data: bytes) -> Any:
        return list(fastavro.reader(io.BytesIO(data)))


def has_pyarrow(least: int) -> bool:
    return int(pa.__version__.partition(".")[0]) >= least


class TestCsv(FormatContract):
    format = CsvFormat
    config: ClassVar = {"csv.delimiter": ";", **({"csv.null": "NULL"} if has_pyarrow(26) else {})}

    def contents(self, data: bytes) -> Any:
        return list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter=";"))


class TestJsonLines(FormatContract):
    format = JsonLinesFormat
    config: ClassVar = {"compression.type": "gzip"}

    def contents(self, data: bytes) -> Any:
        return [json.loads(line) for line in gzip.decompress(data).splitlines()]


class TestRaw(FormatContract):
    format = RawFormat
    config: ClassVar = {"compression.type": "zstd", "format.bytearray.separator": "|"}

    def contents(self, data: bytes) -> Any:
        with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as file:
            return file.read()

    def records(self) -> Sequence[SinkRecord]:
        return sink_records(BYTES_SCHEMA, [b"one", b"\x00\xff", b"three"])

    def more_records(self) -> Sequence[SinkRecord]:
        return sink_records(STRING_SCHEMA, ["Zoë"])


class TestEnvelope(FormatContract):
    format = EnvelopeFormat
    config: ClassVar = {"format.output.fields": "offset,value"}

    def contents(self, data: bytes) -> Any:
        return [json.loads(line) for line in data.splitlines()]


class TestPlain(FormatContract):
    format = PlainFormat
    config: ClassVar = {"compression.type": "gzip", "format.output.fields": "key,value,offset"}

    def contents(self, data: bytes) -> Any:
        return gzip.decompress(data).splitlines()

    def records(self) -> Sequence[SinkRecord]:
        return sink_records(BYTES_SCHEMA, [b"one", b"\x00\xff", b"three"])

    def more_records(self) -> Sequence[SinkRecord]:
        return sink_records(STRING_SCHEMA, ["Zoë"])


class TestDefault(PartitionerContract):
    partitioner = DefaultPartitioner


class TestField(PartitionerContract):
    partitioner = FieldPartitioner
    config: ClassVar = {"partition.field.name": "customer,id"}

    def hostile_records(self, text: str) -> Sequence[SinkRecord]:
        return sink_records(None, [{"customer": text, "id": 1}])


class TestTimeBased(PartitionerContract):
    partitioner = TimeBasedPartitioner
    config: ClassVar = {
        "path.format": "'dt'=yyyy-MM-dd/'at'=HH:mm",
        "partition.duration.ms": "60000",
        "timezone": "Asia/Kathmandu",
        "timestamp.extractor": "Record",
    }


class TestDaily(PartitionerContract):
    partitioner = DailyPartitioner
    config: ClassVar = {"timezone": "Europe/Berlin", "timestamp.extractor": "Record"}


class TestHourly(PartitionerContract):
    partitioner = HourlyPartitioner
    config: ClassVar = {"timestamp.extractor": "RecordField", "timestamp.field": "id"}


class TestLocal(StorageContract):
    def storage(self, folder: Path) -> LocalStorage:
        return LocalStorage(folder)

    def source(self, folder: Path) -> SourceFiles:
        return LocalStorage.open_source(str(folder), {}, WorkerLimits((folder,)))

    def listed(self, folder: Path) -> list[str]:
        places = (place.relative_to(folder).as_posix() for place in folder.rglob("*") if place.is_file())
        return sorted(name for name in places if not name.startswith("_connect/"))

    def content(self, folder: Path, name: str) -> bytes:
        return (folder / name).read_bytes()
