"""The committer's step for tables, with a metastore that fails when asked to: records are committed once."""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("thrift", reason="pip install 'connect-core[hive]'")

from hive_metastore.ttypes import AlreadyExistsException, FieldSchema, InvalidObjectException, MetaException
from thrift.Thrift import TApplicationException
from thrift.transport.TTransport import TTransportException

from connect_core.api import CommitMarker, SinkRecord, WorkerLimits
from connect_core.api.data import Int32
from connect_core.connectors.filesystem.hive.registration import Registration
from connect_core.connectors.filesystem.sink.committer import FileSystemCommitter
from connect_core.connectors.filesystem.sink.config import Settings
from connect_core.connectors.filesystem.sink.connector import FileSystemSinkConnector
from connect_core.errors import ConfigError, ConnectError, DataError, RetriableError
from tests.connectors.contexts import interval_of, limits_of
from tests.connectors.filesystem.export import Export, numbered
from tests.connectors.filesystem.hive.fake_metastore import FakeMetastore, serving

pytestmark = pytest.mark.slow

KEY = interval_of().key


@pytest.fixture
def metastore() -> FakeMetastore:
    return FakeMetastore()


@pytest.fixture
def port(metastore: FakeMetastore) -> Iterator[int]:
    with serving(metastore) as port:
        yield port


@pytest.fixture
def export(tmp_path: Path, port: int) -> Export:
    return export_of(tmp_path, f"thrift://127.0.0.1:{port}")


def export_of(folder: Path, uris: str, **config: str) -> Export:
    by_field = {"partitioner": "field", "partition.field.name": "c"}
    return Export(folder, **{"hive.integration": "true", "hive.metastore.uris": uris, **by_field, **config})


def committed(export: Export, records: Sequence[SinkRecord]) -> tuple[FileSystemCommitter, CommitMarker]:
    interval = export.interval(records)
    staged = export.stage(interval, records)
    committer = export.committer()
    return committer, committer.commit(interval.key, staged)


def test_table_and_partitions_follow_the_files(export: Export, metastore: FakeMetastore) -> None:
    export.run(numbered([{"c": "de", "userId": 1}, {"c": "fr", "userId": 2}, {"c": None, "userId": 3}], "shop.orders"))
    table = metastore.tables["shop_orders"]
    assert metastore.columns("shop_orders") == {"userid": "bigint"}
    assert [(key.name, key.type) for key in table.partitionKeys] == [("c", "string")]
    assert (table.tableType, table.parameters["EXTERNAL"]) == ("EXTERNAL_TABLE", "TRUE")
    home = f"file://{export.out}/shop.orders"
    assert table.sd.location == home
    assert {values: one.sd.location for values, one in metastore.partitions["shop_orders"].items()} == {
        ("de",): f"{home}/c=de",
        ("fr",): f"{home}/c=fr",
        ("__HIVE_DEFAULT_PARTITION__",): f"{home}/c=__HIVE_DEFAULT_PARTITION__",
    }
    assert metastore.calls == ["get_table_req", "get_table_req", "create_table", "get_table_req", "add_partitions"]


def test_columns_that_appear_later_are_added_to_the_table_and_its_partitions(
    export: Export, metastore: FakeMetastore
) -> None:
    export.run(numbered([{"c": "de", "n": Int32(1)}]))
    export.run(numbered([{"c": "it", "n": 2, "s": {"Deep": "x"}}], partition=1), sequence=2)
    assert metastore.columns("t") == {"n": "bigint", "s": "struct<deep:string>"}
    for partition in metastore.partitions["t"].values():
        assert [column.name for column in partition.sd.cols] == ["n", "s"]
    metastore.calls.clear()
    export.run(numbered([{"c": "de", "n": 3}], partition=2), sequence=3)
    assert metastore.calls == ["get_table_req", "get_table_req", "add_partitions"]


def test_many_partitions_take_few_calls(export: Export, metastore: FakeMetastore) -> None:
    committer, marker = committed(export, numbered([{"c": "k", "n": 1}]))
    names = [f"t/c=k{number}/t.parquet" for number in range(10_000)]
    assert committer.hive is not None
    files = [{"name": name, "home": "t", "topic": "t"} for name in names]
    committer.hive.register((marker.detail or {})["hive"], files)
    assert len(metastore.partitions["t"]) == 10_000
    assert metastore.calls.count("add_partitions") == 40


@pytest.mark.parametrize(
    "fault",
    ["get_table_req", "create_table", "create_table:after", "add_partitions", "add_partitions:after"],
)
@pytest.mark.parametrize("error", [TTransportException(message="gone"), MetaException("its database is down")])
def test_a_metastore_that_fails_is_retried_and_nothing_is_registered_twice(
    export: Export, metastore: FakeMetastore, fault: str, error: Exception
) -> None:
    committer, marker = committed(export, numbered([{"c": "de", "n": 1}]))
    files = export.files()
    metastore.faults[fault] = error
    with pytest.raises(RetriableError, match="Hive Metastore"):
        committer.publish(KEY, marker)
    published = export.files()
    assert (files, len(published)) == ([], 1)
    assert (export.out / "t" / "_SUCCESS").exists()
    # The driver that recovers is another one.
    export.committer(2).publish(KEY, marker)
    assert export.files() == published
    assert export.rows() == [{"c": "de", "n": 1}]
    assert list(metastore.partitions["t"]) == [("de",)]
    calls = len(metastore.calls)
    export.committer(2).publish(KEY, marker)
    assert len(metastore.calls) == calls


def test_a_failed_change_of_the_table_is_retried(export: Export, metastore: FakeMetastore) -> None:
    export.run(numbered([{"c": "de", "n": 1}]))
    records = numbered([{"c": "de", "n": 1, "s": "x"}], partition=1)
    interval = export.interval(records, 2)
    committer = export.committer()
    marker = committer.commit(interval.key, export.stage(interval, records))
    for fault in ("alter_table", "alter_table:after"):
        metastore.faults[fault] = TTransportException(message="gone")
        with pytest.raises(RetriableError):
            committer.publish(interval.key, marker)
    committer.publish(interval.key, marker)
    assert metastore.columns("t") == {"n": "bigint", "s": "string"}


def test_a_table_that_another_creates_meanwhile_is_taken(export: Export, metastore: FakeMetastore) -> None:
    metastore.faults["create_table:after"] = AlreadyExistsException("t")
    export.run(numbered([{"c": "de", "n": 1}]))
    assert list(metastore.partitions["t"]) == [("de",)]


def test_older_metastores_have_another_call_for_tables(export: Export, metastore: FakeMetastore) -> None:
    export.run(numbered([{"c": "de", "n": 1}]))
    metastore.faults["get_table_req"] = TApplicationException(TApplicationException.UNKNOWN_METHOD, "what?")
    export.run(numbered([{"c": "fr", "n": 1}], partition=1), sequence=2)
    assert "get_table" in metastore.calls
    assert list(metastore.partitions["t"]) == [("de",), ("fr",)]


@pytest.mark.parametrize(
    ("address", "location"),
    [
        ("/lake/a b%2F", "file:///lake/a b%2F"),
        ("s3://bucket/lake", "s3a://bucket/lake"),
        ("gs://bucket/lake", "gs://bucket/lake"),
        ("abfss://c@a.dfs.core.windows.net/lake", "abfss://c@a.dfs.core.windows.net/lake"),
        ("hdfs://nn:8020/lake", "hdfs://nn:8020/lake"),
    ],
)
def test_locations_are_as_hadoops_readers_write_them(
    export: Export, metastore: FakeMetastore, address: str, location: str
) -> None:
    hive = Settings.of(export.config).hive
    assert hive is not None
    registration = Registration(hive, limits_of(export.folder), lambda name: f"{address}/{name}")
    content = registration.content({"t": [(("n", "int64"),)]}, {"t": "topics/t"})
    files = [{"name": "topics/t/c=a%2Fb/1.parquet", "topic": "t", "home": "topics/t"}]
    for _ in range(2):
        registration.register(content, files)
    assert metastore.tables["t"].sd.location == f"{location}/topics/t"
    assert metastore.partitions["t"][("a/b",)].sd.location == f"{location}/topics/t/c=a%2Fb"


def test_a_table_made_with_another_scheme_of_the_same_place_is_taken(export: Export, metastore: FakeMetastore) -> None:
    export.run(numbered([{"c": "de", "n": 1}]))
    metastore.tables["t"].sd.location = f"file:{export.out}/t/"
    export.run(numbered([{"c": "fr", "n": 1}], partition=1), sequence=2)
    assert metastore.partitions["t"][("fr",)].sd.location == f"file:{export.out}/t/c=fr"


def test_without_the_client_its_extra_is_named(export: Export, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "thrift", None)
    (message,) = FileSystemSinkConnector().validate_live(export.config, limits_of(export.folder))["hive.integration"]
    assert "pip install 'connect-core[hive]'" in message
    with pytest.raises(ConnectError, match=r"connect-core\[hive\]"):
        export.committer()


def test_the_next_metastore_is_called_if_one_is_down(tmp_path: Path, port: int, metastore: FakeMetastore) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        down = free.getsockname()[1]
    export_of(tmp_path, f"thrift://127.0.0.1:{down},thrift://127.0.0.1:{port}").run(numbered([{"c": "de", "n": 1}]))
    assert list(metastore.partitions["t"]) == [("de",)]


def test_one_that_hangs_costs_its_time_limit_and_files_are_committed(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"thrift://127.0.0.1:{silent.getsockname()[1]}"
        export = export_of(tmp_path, uri, **{"hive.metastore.timeout.ms": "1000"})
        begin = time.monotonic()
        committer, marker = committed(export, numbered([{"c": "de", "n": 1}]))
        with pytest.raises(RetriableError, match=f"does not respond: {uri}: "):
            committer.publish(KEY, marker)
        assert time.monotonic() - begin < 20
    assert export.rows() == [{"c": "de", "n": 1}]


def test_a_response_that_is_no_thrift_is_retried(tmp_path: Path) -> None:
    class Nonsense:
        def process(self, received: Any, sent: Any) -> None:
            sent.trans.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            sent.trans.flush()
            received.readMessageBegin()
            raise TTransportException(message="closed")

    with serving(FakeMetastore(), Nonsense()) as port:
        committer, marker = committed(
            export_of(tmp_path, f"thrift://127.0.0.1:{port}"), numbered([{"c": "de", "n": 1}])
        )
        with pytest.raises(RetriableError, match="does not respond"):
            committer.publish(KEY, marker)


def test_types_that_a_table_cannot_take_are_refused_before_the_commit(export: Export, metastore: FakeMetastore) -> None:
    export.run(numbered([{"c": "de", "n": 1}]))
    metastore.tables["t"].sd.cols = [FieldSchema("n", "date", "")]
    with pytest.raises(DataError, match=r"table default\.t: field n holds int64 where date32\[day\] is stored; cast"):
        export.run(numbered([{"c": "de", "n": 2}], partition=1), sequence=2)
    metastore.tables["t"].sd.cols = [FieldSchema("n", "bigint", "")]
    with pytest.raises(DataError, match=r"table default\.t: column n has 64-bit integers in some files and floats"):
        export.run(numbered([{"c": "de", "n": 2.5}], partition=2), sequence=3)
    assert export.rows() == [{"c": "de", "n": 1}]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tableType": "MANAGED_TABLE"}, "not an external table"),
        ({"partitionKeys": []}, "partitioned by nothing, and not by c"),
        ({"location": "file:/elsewhere"}, "files are in file:/elsewhere"),
        ({"inputFormat": "OrcInputFormat"}, "read by OrcInputFormat, and these are parquet"),
    ],
)
def test_a_table_of_other_files_is_refused(
    export: Export, metastore: FakeMetastore, change: dict[str, Any], message: str
) -> None:
    export.run(numbered([{"c": "de", "n": 1}]))
    for name, value in change.items():
        table = metastore.tables["t"]
        setattr(table if hasattr(table, name) else table.sd, name, value)
    with pytest.raises(ConfigError, match=message):
        export.run(numbered([{"c": "de", "n": 2}], partition=1), sequence=2)


def test_a_refusal_of_the_metastore_is_not_retried(export: Export, metastore: FakeMetastore) -> None:
    committer, marker = committed(export, numbered([{"c": "de", "n": 1}]))
    metastore.faults["add_partitions"] = MetaException("x")
    metastore.faults["create_table"] = InvalidObjectException("not allowed")
    with pytest.raises(ConnectError) as raised:
        committer.publish(KEY, marker)
    assert not isinstance(raised.value, RetriableError)


def test_two_topics_of_one_table_are_refused(export: Export) -> None:
    records = [*numbered([{"c": "de", "n": 1}], "a.b"), *numbered([{"c": "de", "n": 1}], "a_b")]
    with pytest.raises(DataError, match="another topic has the table a_b"):
        export.run(records)


def test_rows_of_nulls_have_no_table_yet(tmp_path: Path, port: int, metastore: FakeMetastore) -> None:
    export = export_of(tmp_path, f"thrift://127.0.0.1:{port}", partitioner="partition")
    export.run(numbered([None]))
    assert metastore.tables == {}
    export.run(numbered([{"n": 1}], partition=1), sequence=2)
    assert list(metastore.partitions["t"]) == [("1",)]


def test_avro_has_its_schema_with_the_names_of_files(tmp_path: Path, port: int, metastore: FakeMetastore) -> None:
    pytest.importorskip("fastavro")
    export = export_of(tmp_path, f"thrift://127.0.0.1:{port}", format="avro")
    export.run(numbered([{"c": "de", "userId": 1}]))
    export.run(numbered([{"c": "de", "userId": 1, "At": "x"}], partition=1), sequence=2)
    schema = json.loads(metastore.tables["t"].parameters["avro.schema.literal"])
    assert [field["name"] for field in schema["fields"]] == ["userId", "At"]
    assert metastore.columns("t") == {"userid": "bigint", "at": "string"}


def test_json_is_registered_in_a_table_that_exists(tmp_path: Path, port: int, metastore: FakeMetastore) -> None:
    export = export_of(tmp_path, f"thrift://127.0.0.1:{port}", format="json")
    committer, marker = committed(export, numbered([{"c": "de", "n": 1}]))
    with pytest.raises(ConnectError, match=r"create it as an external table at file://.*/out/t, partitioned by c"):
        committer.publish(KEY, marker)
    export_of(tmp_path / "other", f"thrift://127.0.0.1:{port}").run(numbered([{"c": "de", "n": 1}]))
    metastore.tables["t"].sd.location = f"file:{export.out}/t"
    metastore.partitions["t"].clear()
    committer.publish(KEY, marker)
    assert list(metastore.partitions["t"]) == [("de",)]


def test_intervals_from_before_are_published_without_tables(tmp_path: Path, port: int) -> None:
    before = Export(tmp_path, **{"partitioner": "field", "partition.field.name": "c"})
    _, marker = committed(before, numbered([{"c": "de", "n": 1}]))
    later = export_of(tmp_path, f"thrift://127.0.0.1:{port}")
    later.committer(2).publish(KEY, marker)
    assert later.rows() == [{"c": "de", "n": 1}]


def test_validation_asks_for_the_metastore_and_the_database(tmp_path: Path, port: int) -> None:
    connector, limits = FileSystemSinkConnector(), limits_of(tmp_path)
    config = export_of(tmp_path, f"thrift://127.0.0.1:{port}").config
    assert connector.validate_live(config, limits) == {}
    found = connector.validate_live({**config, "hive.database": "lake"}, limits)
    assert found == {"hive.database": ["the metastore has no database lake; create it, or name another"]}
    with socket.create_server(("127.0.0.1", 0)) as free:
        down = f"thrift://127.0.0.1:{free.getsockname()[1]}"
    (message,) = connector.validate_live({**config, "hive.metastore.uris": down}, limits)["hive.metastore.uris"]
    assert down in message


def test_only_allowed_hosts_are_called(tmp_path: Path, port: int, metastore: FakeMetastore) -> None:
    config = export_of(tmp_path, f"thrift://127.0.0.1:{port}").config
    limits: WorkerLimits = replace(limits_of(tmp_path), values={"hosts.allowed": "10.0.0.0/8"})
    (message,) = FileSystemSinkConnector().validate_live(config, limits)["hive.metastore.uris"]
    assert "may only call 10.0.0.0/8" in message
    assert metastore.calls == []
