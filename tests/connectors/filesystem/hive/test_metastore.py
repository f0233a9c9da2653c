"""Exports registered in a real Hive Metastore, which is killed in between; data read back by what it tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

pytest.importorskip("thrift", reason="pip install 'connect-core[hive]'")

from hive_metastore.ttypes import Partition, Table

from connect_core.api import SinkRecord
from connect_core.api.data import Int32
from connect_core.connectors.filesystem.hive.client import with_metastore
from connect_core.connectors.filesystem.hive.tables import find_table
from connect_core.connectors.filesystem.sink.config import Settings
from connect_core.errors import ConnectError, RetriableError
from tests.connectors.contexts import limits_of
from tests.connectors.filesystem.export import Export, numbered
from tests.connectors.filesystem.hive.real_metastore import HiveServer

pytestmark = [pytest.mark.servers, pytest.mark.matrix]

HOUR = 3_600_000
HOSTILE = "../../x=ü,\n%2F"


@pytest.fixture(scope="module", params=["3.1.3", "4.0.1"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiveServer]:
    server = HiveServer(tmp_path_factory.mktemp("metastore"), request.param)
    try:
        server.start()
        yield server
    finally:
        server.kill()


def export_of(folder: Path, server: HiveServer, name: str, **config: str) -> Export:
    hive = {
        "hive.integration": "true",
        "hive.metastore.uris": server.uri,
        "hive.table.name": f"{folder.name}_${{topic}}",
    }
    return Export(folder, name, **hive, **config)


def by_field(folder: Path, server: HiveServer) -> Export:
    return export_of(folder, server, "fields", **{"partitioner": "field", "partition.field.name": "country"})


def by_hour(folder: Path, server: HiveServer) -> Export:
    return export_of(folder, server, "hours", **{"partitioner": "hourly", "timestamp.extractor": "Record"})


def clicks(hours: Sequence[int], **more: Any) -> list[SinkRecord]:
    records = numbered([{"page": f"p{hour}", **more} for hour in hours], "web.clicks")
    return [replace(record, timestamp=hour * HOUR) for record, hour in zip(records, hours, strict=True)]


def shifted(records: Sequence[SinkRecord], partition: int) -> list[SinkRecord]:
    return [replace(one, kafka_partition=partition, original_kafka_partition=partition) for one in records]


def told(export: Export, topic: str) -> tuple[Table, list[Partition]]:
    hive = Settings.of(export.config).hive
    assert hive is not None
    table = hive.table_of(topic)

    def act(client: Any) -> tuple[Table, list[Partition]]:
        return find_table(client, "default", table), client.get_partitions("default", table, -1)

    found = with_metastore(hive, limits_of(export.folder), act)
    return found[0], sorted(found[1], key=lambda one: list(one.values))


def columns(described: Table | Partition) -> dict[str, str]:
    return {column.name: column.type for column in described.sd.cols}


def rows(partition: Partition) -> list[dict[str, Any]]:
    place = Path(partition.sd.location.removeprefix("file:").replace("//", "/"))
    return [row for file in sorted(place.glob("*.parquet")) for row in pq.ParquetFile(file).read().to_pylist()]


def test_tables_and_partitions_of_a_real_metastore(tmp_path: Path, server: HiveServer) -> None:
    fields, hours = by_field(tmp_path, server), by_hour(tmp_path, server)
    countries = ("de", HOSTILE, None)
    orders = [{"country": country, "n": Int32(number)} for number, country in enumerate(countries)]
    fields.run(numbered(orders, "orders"))
    hours.run(clicks([0, 1, 1]))

    table, partitions = told(fields, "orders")
    assert (table.tableType, columns(table)) == ("EXTERNAL_TABLE", {"n": "int"})
    nothing = "__HIVE_DEFAULT_PARTITION__"
    assert {one.values[0]: rows(one) for one in partitions} == {
        "de": [orders[0]],
        HOSTILE: [orders[1]],
        nothing: [orders[2]],
    }
    table, partitions = told(hours, "web.clicks")
    assert [key.name for key in table.partitionKeys] == ["year", "month", "day", "hour"]
    assert [one.values for one in partitions] == [["1970", "01", "01", "00"], ["1970", "01", "01", "01"]]
    assert [len(rows(one)) for one in partitions] == [1, 2]

    # New columns, also in a struct, a wider type and new partitions.
    more = [{"country": "de", "n": 2**40, "who": {"Name": "x"}}, {"country": "it", "n": 7, "who": {"age": 4}}]
    fields.run(shifted(numbered(more, "orders"), 1), sequence=2)
    hours.run(shifted(clicks([1, 5], at="here"), 1), sequence=2)
    table, partitions = told(fields, "orders")
    wider = {"n": "bigint", "who": "struct<name:string,age:bigint>"}
    assert [columns(one) for one in (table, *partitions)] == [wider] * 5
    assert [one.values[0] for one in partitions] == sorted([HOSTILE, nothing, "de", "it"])
    table, partitions = told(hours, "web.clicks")
    assert columns(table) == {"page": "string", "at": "string"}
    assert [one.values[-1] for one in partitions] == ["00", "01", "05"]
    assert [len(rows(one)) for one in partitions] == [1, 3, 1]


def test_a_metastore_killed_before_the_registration(tmp_path: Path, server: HiveServer) -> None:
    hours = by_hour(tmp_path, server)
    hours.run(clicks([0]))
    records = shifted(clicks([0, 3], at="here"), 1)
    interval = hours.interval(records, 2)
    staged = hours.stage(interval, records)
    server.kill()
    committer = hours.committer()
    marker = committer.commit(interval.key, staged)
    with pytest.raises(RetriableError, match=server.uri):
        committer.publish(interval.key, marker)
    home = hours.out / "web.clicks"
    files = sorted(home.rglob("*.parquet"))
    assert len(files) == 3
    server.start()
    for _ in range(2):
        # Another driver, which reads the manifest.
        later = hours.committer(2)
        found = later.read_marker(interval.key)
        assert found is not None
        later.publish(interval.key, found)
    table, partitions = told(hours, "web.clicks")
    assert columns(table) == {"page": "string", "at": "string"}
    assert [(one.values[-1], len(rows(one))) for one in partitions] == [("00", 2), ("03", 1)]
    assert sorted(home.rglob("*.parquet")) == files


@pytest.mark.parametrize("form", ["avro", "orc", "csv"])
def test_formats_are_accepted_by_a_real_metastore(tmp_path: Path, server: HiveServer, form: str) -> None:
    config = {"partitioner": "daily", "timestamp.extractor": "Record", "format": form}
    export = export_of(tmp_path, server, "copy", **config)
    export.run(clicks([0], n=1))
    export.run(shifted(clicks([30], n=2, more=[{"Deep": True}]), 1), sequence=2)
    table, partitions = told(export, "web.clicks")
    kinds = {"csv": ["string"] * 3}.get(form, ["string", "bigint", "array<struct<deep:boolean>>"])
    assert columns(table) == dict(zip(["page", "n", "more"], kinds, strict=True))
    assert [one.values[-1] for one in partitions] == ["01", "02"]


def test_what_a_real_metastore_refuses_is_one_error(tmp_path: Path, server: HiveServer) -> None:
    export = by_field(tmp_path, server)
    config = {**export.config, "hive.database": "missing"}
    refused = Export(tmp_path, "other", **{**config, "topics.dir": "other"})
    with pytest.raises(ConnectError, match="missing"):
        refused.run(numbered([{"country": "de", "n": 1}], "orders"))
