"""In which folders records lie."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api import Batch
from connect_core.api.data import Instant
from connect_core.connectors.filesystem.partitioners import HourlyPartitioner
from connect_core.connectors.filesystem.sink.connector import FileSystemSinkConnector
from connect_core.errors import ConfigError, DataError
from tests.connectors.contexts import DriverSide, Reporter, limits_of
from tests.connectors.examples import FEW
from tests.connectors.filesystem.export import Export, numbered

pytestmark = pytest.mark.slow

CONFLUENT = "io.confluent.connect.storage.partitioner."
EVENING = 1_700_000_000_000
"""2023-11-14 22:13:20 UTC."""


def folders(export: Export) -> list[str]:
    files = (place.relative_to(export.out / "t") for place in (export.out / "t").rglob("*.parquet"))
    return sorted({place.parent.as_posix() for place in files})


def test_fields_name_folders_in_their_order(tmp_path: Path, batches: bool) -> None:
    config = {"partitioner.class": f"{CONFLUENT}FieldPartitioner", "partition.field.name": "country,at.year"}
    export = Export(tmp_path, **config)
    values = [{"country": "de", "at": {"year": 2026}}, {"country": "fr", "at": {"year": 2026}}]
    export.run(numbered([*values, {"country": None, "at": {"year": 1}}, values[0], None]), batches=batches)
    nothing = "__HIVE_DEFAULT_PARTITION__"
    assert folders(export) == [
        f"country={nothing}/at.year=1",
        f"country={nothing}/at.year={nothing}",
        "country=de/at.year=2026",
        "country=fr/at.year=2026",
    ]
    (german,) = export.out.glob("t/country=de/*/*.parquet")
    assert german.name == "t+0+00000000000000000000+00000000000000000005.parquet"
    assert pq.ParquetFile(german).read()["country"].to_pylist() == ["de", "de"]


def test_each_file_keeps_the_order_of_its_partition(tmp_path: Path, batches: bool) -> None:
    export = Export(tmp_path, partitioner="field", **{"partition.field.name": "k"})
    export.run(numbered([{"k": number % 3, "n": number} for number in range(30)]), batches=batches)
    for key in range(3):
        (file,) = export.out.glob(f"t/k={key}/*.parquet")
        assert pq.ParquetFile(file).read()["n"].to_pylist() == list(range(key, 30, 3))


HOSTILE = ["../../x", "..", "/etc", "a=b", "%2F", "", "Zoë", "日本", "x" * 1000, "a\nb", "\\", "*?", "_x", ".x", "a b"]


def test_hostile_values_stay_within_the_folder_and_read_back(tmp_path: Path, batches: bool) -> None:
    export = Export(tmp_path, partitioner="field", **{"partition.field.name": "k"})
    export.run(numbered([{"k": value} for value in HOSTILE]), batches=batches)
    assert {place.name for place in tmp_path.iterdir()} == {"out"}
    assert {place.name for place in export.out.iterdir()} == {"t", "_connect"}
    files = [place for place in export.out.glob("t/*/*.parquet") if place.parent.parent == export.out / "t"]
    found = [value for place in files for value in pq.ParquetFile(place).read()["k"].to_pylist()]
    assert sorted(found) == sorted(HOSTILE)
    rows = duckdb.execute(
        f"select k from read_parquet('{export.out}/t/*/*.parquet', hive_partitioning=false)"
    ).fetchall()
    assert sorted(row[0] for row in rows) == sorted(HOSTILE)


def test_a_hive_reader_gets_the_value_back_from_the_path(tmp_path: Path) -> None:
    export = Export(tmp_path, partitioner="field", **{"partition.field.name": "k"})
    values = ["../../x", "a=b", "%2F", "Zoë", "a b"]
    export.run(numbered([{"k": value, "n": 1} for value in values]))
    named = ds.HivePartitioning(pa.schema([("k", pa.string())]))
    paths = [place.relative_to(export.out / "t").as_posix() for place in export.out.glob("t/*/*.parquet")]
    found = [ds.get_partition_keys(named.parse(path))["k"] for path in paths]
    assert sorted(found) == sorted(values)


def open_files(folder: Path) -> int:
    """Return how many staged files below a folder this process has open."""
    found = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            place = descriptor.readlink()
            found += place.is_relative_to(folder) and "+tmp" in place.parts
    return found


def test_very_many_values_are_written_with_few_open_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Buffers are small here, so that every file has several parts."""
    monkeypatch.setattr("connect_core.connectors.filesystem.sink.staging.files._BUFFERED", 40_000)
    monkeypatch.setattr("connect_core.connectors.filesystem.sink.staging.files._OPEN", 5)
    export = Export(tmp_path, partitioner="field", format="json", **{"partition.field.name": "k"})
    records = numbered([{"k": number % 200, "n": number} for number in range(2000)])
    interval = export.interval(records)
    task = export.task(interval)
    most = 0
    for first in range(0, len(records), 100):
        task.put(records[first : first + 100])
        most = max(most, open_files(tmp_path))
    staged = task.stage({interval.ranges[0].topic_partition: 2000})
    assert 0 < most <= 5
    committer = export.committer()
    committer.publish(interval.key, committer.commit(interval.key, staged))
    files = list(export.out.glob("t/k=*/*.json"))
    assert len(files) == 200
    lines = [line for file in files for line in file.read_text().splitlines()]
    assert sorted(int(line.rpartition(":")[2].rstrip("}")) for line in lines) == list(range(2000))


@pytest.mark.parametrize("value", [{}, {"k": 1.5}, {"k": [1]}, {"k": {"x": 1}}, "text"])
def test_a_record_without_a_folder_goes_the_way_of_tolerance(tmp_path: Path, batches: bool, value: Any) -> None:
    export = Export(tmp_path, partitioner="field", **{"partition.field.name": "k"})
    with pytest.raises(DataError, match=r"topic t, partition 0, offset 1: .*field k"):
        export.run(numbered([{"k": "a"}, value]), batches=batches)
    export.reporter = Reporter()
    export.run(numbered([{"k": "a"}, value, {"k": "b"}]), sequence=2, batches=batches)
    assert [record.kafka_offset for record, _ in export.reporter.reported] == [1]
    assert folders(export) == ["k=a", "k=b"]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"partitioner": "daily"}, "year=2023/month=11/day=14"),
        ({"partitioner": "hourly"}, "year=2023/month=11/day=14/hour=22"),
        ({"partitioner": "hourly", "timezone": "Europe/Berlin"}, "year=2023/month=11/day=14/hour=23"),
        ({"partitioner": "daily", "timezone": "Asia/Tokyo"}, "year=2023/month=11/day=15"),
        ({"partitioner": "daily", "timezone": "+02:00"}, "year=2023/month=11/day=15"),
        ({"partitioner": "daily", "timezone": "+02"}, "year=2023/month=11/day=15"),
        ({"partitioner": "daily", "timezone": "UTC+02:00"}, "year=2023/month=11/day=15"),
        ({"partitioner": "hourly", "timezone": "GMT-3"}, "year=2023/month=11/day=14/hour=19"),
        ({"partitioner": "hourly", "timezone": "Z"}, "year=2023/month=11/day=14/hour=22"),
        ({"partitioner": "time", "path.format": "/YYYY//MM/", "partition.duration.ms": "900000"}, "2023/11"),
        ({"partitioner": "time", "path.format": "YYYY/MM/HH-mm", "partition.duration.ms": "900000"}, "2023/11/22-00"),
        (
            {"partitioner": "time", "path.format": "'w'=xxxx-ww/EEE MMM d", "partition.duration.ms": "86400000"},
            "w=2023-46/Tue Nov 14",
        ),
        (
            {"partitioner": "time", "path.format": "'a''b'/D/h a", "partition.duration.ms": "3600000", "locale": "en"},
            "a%27b/318/10 PM",
        ),
        (
            {"partitioner": "time", "path.format": "ZZZ/z", "partition.duration.ms": "1", "timezone": "+02:00"},
            "+02%3A00/+02%3A00",
        ),
        (
            {"partitioner": "time", "path.format": "ZZZ/z", "partition.duration.ms": "1", "timezone": "Europe/Berlin"},
            "Europe/Berlin/CET",
        ),
    ],
)  # fmt: skip
def test_times_name_folders(tmp_path: Path, batches: bool, config: dict[str, str], expected: str) -> None:
    fields = {"timestamp.extractor": "RecordField", "timestamp.field": "at"}
    export = Export(tmp_path, **config, **fields)
    export.run(numbered([{"at": EVENING}, {"at": EVENING + 1}]), batches=batches)
    assert folders(export) == [expected]


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (EVENING, None),
        ("2023-11-14T22:13:20Z", None),
        ("2023-11-15T00:13:20+02:00", None),
        ("2023-11-14 22:13:20.5", None),
        (Instant(EVENING), None),
        (EVENING + 0.75, None),
    ],
)
def test_a_field_tells_the_time_in_several_ways(tmp_path: Path, batches: bool, value: Any, schema: Any) -> None:
    export = Export(
        tmp_path,
        **{
            "partitioner.class": f"{CONFLUENT}HourlyPartitioner",
            "timestamp.extractor": f"{CONFLUENT}TimeBasedPartitioner$RecordFieldTimestampExtractor",
            "timestamp.field": "a.b",
        },
    )
    export.run(numbered([{"a": {"b": value}}, None]), batches=batches)
    nothing = "time=__HIVE_DEFAULT_PARTITION__"
    assert folders(export) == [nothing, "year=2023/month=11/day=14/hour=22"]


def test_the_records_own_time_names_folders(tmp_path: Path, batches: bool) -> None:
    export = Export(tmp_path, partitioner="hourly", **{"timestamp.extractor": "Record"})
    export.run(numbered([1, 2], value_schema=None), batches=batches)
    assert folders(export) == ["year=1970/month=01/day=01/hour=00"]


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"at": None},
        {"at": "soon"},
        {"at": True},
        {"at": float("nan")},
        {"at": 10**17},
        {"at": 2**70},
        {"at": 1e30},
        {"at": float("inf")},
        {"at": "1583020800000"},
        {"at": "1700000000"},
    ],
)
def test_a_record_without_a_time_is_refused(tmp_path: Path, batches: bool, value: Any) -> None:
    export = Export(tmp_path, partitioner="daily", **{"timestamp.extractor": "RecordField", "timestamp.field": "at"})
    with pytest.raises(DataError, match=r"topic t, partition 0, offset 1: "):
        export.run(numbered([{"at": 1}, value]), batches=batches)


@pytest.mark.parametrize("partitioner", ["daily", "hourly"])
def test_the_last_day_there_is_has_a_folder_without_an_end(tmp_path: Path, batches: bool, partitioner: str) -> None:
    """Producers write 9999-12-31 for times without an end."""
    fields = {"timestamp.extractor": "RecordField", "timestamp.field": "until"}
    export = Export(tmp_path, partitioner=partitioner, **fields)
    export.run(numbered([{"until": 253_402_300_799_999}, {"until": EVENING}]), batches=batches)
    days = [name.partition("/hour")[0] for name in folders(export)]
    assert days == ["year=2023/month=11/day=14", "year=9999/month=12/day=31"]


ZONES = ["UTC", "Asia/Kathmandu", "America/St_Johns", "Africa/Monrovia"]


@FEW
@given(st.lists(st.integers(-(10**11), 4 * 10**12), min_size=1, max_size=20), st.sampled_from(ZONES))
def test_a_folder_has_the_hour_of_all_its_records(
    tmp_path_factory: pytest.TempPathFactory, times: list[int], zone: str
) -> None:
    partitioner = HourlyPartitioner()
    partitioner.configure({"timezone": zone, "timestamp.extractor": "RecordField", "timestamp.field": "at"})
    batch = Batch.from_records(numbered([{"at": time} for time in times]))
    found = partitioner.folders(batch).to_pylist()
    at = [(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=t)).astimezone(ZoneInfo(zone)) for t in times]
    assert found == [moment.strftime("year=%Y/month=%m/day=%d/hour=%H") for moment in at]


def test_a_zone_may_be_any_number_of_minutes_away() -> None:
    partitioner = HourlyPartitioner()
    partitioner.configure({"timezone": "+00:07", "timestamp.extractor": "RecordField", "timestamp.field": "at"})
    times = [1_699_999_200_000 + minute * 60_000 for minute in (52, 53)]
    found = partitioner.folders(Batch.from_records(numbered([{"at": time} for time in times]))).to_pylist()
    assert [folder[-7:] for folder in found] == ["hour=22", "hour=23"]


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"partitioner": "field"}, "partition.field.name"),
        ({"partitioner": "field", "partition.field.name": "a,a"}, "partition.field.name"),
        ({"partitioner": "time"}, "partition.duration.ms"),
        ({"partitioner": "time", "partition.duration.ms": str(10**18), "path.format": "YYYY"}, "partition.duration.ms"),
        ({"partitioner": "time", "partition.duration.ms": "1"}, "path.format"),
        ({"partitioner": "time", "partition.duration.ms": "1", "path.format": "YYYY-bb"}, "path.format"),
        ({"partitioner": "time", "partition.duration.ms": "1", "path.format": "'open"}, "path.format"),
        ({"partitioner": "time", "partition.duration.ms": "1", "path.format": "/"}, "path.format"),
        ({"partitioner": "time", "partition.duration.ms": "1", "path.format": "MMM", "locale": "de"}, "locale"),
        ({"partitioner": "daily", "timezone": "Mars/North"}, "timezone"),
        ({"partitioner": "daily", "timezone": "+99:99"}, "timezone"),
        ({"partitioner": "daily", "timestamp.extractor": "Guess"}, "timestamp.extractor"),
        ({"partitioner": "weekly"}, "partitioner"),
        ({"partitioner.class": "org.acme.Mine"}, "partitioner.class"),
        ({"format": "xml"}, "format"),
        ({"format": "raw", "include.key": "true"}, "include.key"),
        ({"format": "raw", "format.bytearray.extension": "../x"}, "format.bytearray.extension"),
        ({"format": "csv", "csv.delimiter": "ab"}, "csv.delimiter"),
        ({"format": "csv", "csv.null": 'a"'}, "csv.null"),
        ({"format": "json", "compression.type": "rar"}, "compression.type"),
        ({"flush.size": "-1"}, "flush.size"),
        ({"file.delim": "/"}, "file.delim"),
        ({"topics.dir": "../x"}, "topics.dir"),
        ({"topics.dir": "/x"}, "topics.dir"),
        ({"behavior.on.null.values": "drop"}, "behavior.on.null.values"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_one_error_with_a_remedy(tmp_path: Path, config: dict[str, str], key: str) -> None:
    connector = FileSystemSinkConnector()
    connector.initialize(DriverSide(limits_of(tmp_path)))
    wanted = {"path": "out", **config}
    errors = {value.name: value.error_messages for value in connector.validate(wanted) if value.error_messages}
    assert list(errors) == [key]
    (message,) = errors[key]
    assert f"for configuration {key}: " in message
    with pytest.raises(ConfigError, match=key):
        connector.start(wanted)


def test_an_unknown_kind_of_place_is_refused(tmp_path: Path) -> None:
    connector = FileSystemSinkConnector()
    found = connector.validate_live({"path": "attic://bucket/lake"}, limits_of(tmp_path))
    assert "install the package that provides it" in found["path"][0]
