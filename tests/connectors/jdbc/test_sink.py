"""Records become rows: modes, keys, deletes, tables made and evolved, on every database."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from connect_core.api import SchemaBuilder, TopicPartition
from connect_core.errors import ConfigError, ConnectError, DataError
from tests.connectors.contexts import Reporter
from tests.connectors.jdbc.servers import Server, strict_servers
from tests.connectors.jdbc.sink_runs import ORDER, SinkRun, order, record, struct, tombstone

UPSERT = {
    "insert.mode": "upsert",
    "pk.mode": "record_key",
    "pk.fields": "id",
    "auto.create": "true",
    "auto.evolve": "true",
}
LANES = pytest.mark.parametrize("in_batches", [True, False], ids=["batches", "records"])


@LANES
def test_inserts_and_says_where_it_stands(server: Server, in_batches: bool) -> None:
    run = SinkRun(server, {"auto.create": "true"})
    marker = run.put([order(5, 1, "a"), order(6, 2, None), order(0, 3, "ü €", partition=1)], in_batches)
    assert sorted(run.rows("SELECT id, label FROM orders")) == [(1, "a"), (2, None), (3, "ü €")]
    assert marker.positions == {TopicPartition("orders", 0): 7, TopicPartition("orders", 1): 1}
    assert run.fence() == marker.positions


@LANES
def test_upserts_the_last_record_of_a_key(server: Server, in_batches: bool) -> None:
    run = SinkRun(server, UPSERT)
    run.put([order(0, 1, "a"), order(1, 2, "b"), order(2, 1, "c")], in_batches)
    run.put([order(3, 2, "d"), order(4, 3, "e"), order(5, 2, "f")], in_batches)
    assert run.rows() == [(1, "c"), (2, "f"), (3, "e")]


@LANES
def test_tombstones_delete(server: Server, in_batches: bool) -> None:
    run = SinkRun(server, {**UPSERT, "delete.enabled": "true"})
    run.put([order(0, 1), order(1, 2), order(2, 3)], in_batches)
    run.put([tombstone(3, 1), order(4, 2, "y"), tombstone(5, 2), tombstone(6, 3), order(7, 3, "z")], in_batches)
    assert run.rows() == [(3, "z")]


@LANES
def test_a_topic_may_begin_with_tombstones(server: Server, in_batches: bool) -> None:
    run = SinkRun(server, {**UPSERT, "delete.enabled": "true"})
    run.put([tombstone(0, 1), tombstone(1, 2)], in_batches)
    run.put([tombstone(2, 3), order(3, 2, "b"), tombstone(4, 1), order(5, 1, "a"), tombstone(6, 2)], in_batches)
    assert run.rows() == [(1, "a")]


def test_a_row_that_is_deleted_and_comes_back_keeps_nothing_of_the_old_one(server: Server) -> None:
    run = SinkRun(server, {**UPSERT, "delete.enabled": "true", "auto.create": "false"})
    server.execute(
        "CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, label VARCHAR(9), note VARCHAR(9))",
        "INSERT INTO orders VALUES (1, 'a', 'kept'), (2, 'b', 'gone')",
    )
    run.put([order(0, 1, "c"), tombstone(1, 2), order(2, 2, "d")])
    assert run.rows() == [(1, "c", "kept"), (2, "d", None)]


@LANES
def test_updates_only_rows_that_exist(server: Server, in_batches: bool) -> None:
    server.execute("CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, label VARCHAR(9))")
    server.execute("INSERT INTO orders VALUES (1, 'a'), (2, 'b')")
    run = SinkRun(server, {**UPSERT, "insert.mode": "update", "delete.enabled": "true"})
    run.put([order(0, 1, "c"), order(1, 9, "d"), order(2, 1, "e"), tombstone(3, 2), order(4, 2, "f")], in_batches)
    assert run.rows() == [(1, "e")]


def test_inserts_and_deletes_in_turn(server: Server) -> None:
    run = SinkRun(server, {**UPSERT, "insert.mode": "insert", "delete.enabled": "true"})
    run.put([order(0, 1, "a"), tombstone(1, 1), order(2, 1, "b"), order(3, 2, "c")])
    assert run.rows() == [(1, "b"), (2, "c")]


def test_keys_from_kafka_from_the_value_and_from_a_struct(server: Server) -> None:
    key = SchemaBuilder.struct().field("region", SchemaBuilder.string().build())
    key_schema = key.field("id", SchemaBuilder.int64().build()).build()
    structs = [record(0, struct(ORDER, id=1, label="a"), key=struct(key_schema, region="eu", id=7))]
    modes: dict[str, tuple[dict[str, str], list[tuple[Any, ...]]]] = {
        "kafka": ({"pk.mode": "kafka", "pk.fields": ""}, [("orders", 0, 0, 1, "a")]),
        "value": ({"pk.mode": "record_value", "pk.fields": "id"}, [(1, "a")]),
        "whole": ({"pk.mode": "record_key", "pk.fields": ""}, [("eu", 7, "a")]),
        "part": ({"pk.mode": "record_key", "pk.fields": "region"}, [("eu", 1, "a")]),
    }
    for name, (settings, rows) in modes.items():
        run = SinkRun(server, {**UPSERT, **settings, "table.name.format": f"t_{name}"}, name=name)
        run.put(structs)
        run.put([record(1, structs[0].value, key=structs[0].key)])
        found = run.rows(f"SELECT * FROM t_{name}")
        assert found == (rows if name != "kafka" else [*rows, ("orders", 0, 1, 1, "a")])


def test_writes_the_fields_asked_for(server: Server) -> None:
    run = SinkRun(server, {**UPSERT, "fields.include.list": "label"})
    schema = SchemaBuilder.struct().field("label", SchemaBuilder.string().build())
    wide = schema.field("secret", SchemaBuilder.string().build()).build()
    run.put([record(0, struct(wide, label="a", secret="s"), key=1)])
    assert run.rows() == [(1, "a")]


def test_tables_by_format_and_topic(server: Server) -> None:
    run = SinkRun(server, {"auto.create": "true", "table.name.format": "copy_of_${topic}"})
    run.put([record(0, struct(ORDER, id=1, label="a"), topic="one.two"), record(0, struct(ORDER, id=2), topic="b-c")])
    assert run.rows(f"SELECT id FROM {server.quote('copy_of_one.two')}") == [(1,)]
    assert run.rows(f"SELECT id FROM {server.quote('copy_of_b-c')}") == [(2,)]


_HOSTILE = ['"; DROP TABLE orders; --', "a`b's", "50% :x ?", "späße ☃", "select", "x" * 60, "back\\slash"]


@pytest.mark.parametrize("name", _HOSTILE)
def test_hostile_names_are_only_names(server: Server, name: str) -> None:
    builder = SchemaBuilder.struct().field("id", SchemaBuilder.int64().build())
    schema = builder.field(name, SchemaBuilder.string().optional().build()).build()
    run = SinkRun(
        server, {**UPSERT, "pk.mode": "record_value", "table.name.format": "${topic}", "delete.enabled": "false"}
    )
    server.execute("CREATE TABLE orders (id INTEGER)")
    for offset, text in enumerate((name, "second")):
        run.put([record(offset, struct(schema, **{"id": 1, name: text}), topic=name)])
    more = SchemaBuilder.struct().field("id", SchemaBuilder.int64().build())
    added = more.field(name + "2", SchemaBuilder.string().default_value(name).build()).build()
    run.put([record(2, struct(added, **{"id": 2, name + "2": name}), topic=name)])
    columns = ", ".join(map(server.quote, (name, name + "2")))
    found = run.rows(f"SELECT id, {columns} FROM {server.quote(name)} ORDER BY id")
    assert found == [(1, "second", name), (2, None, name)]
    assert run.rows("SELECT * FROM orders") == []


def test_a_name_too_long_is_refused_not_cut(server: Server) -> None:
    schema = SchemaBuilder.struct().field("x" * 20_000, SchemaBuilder.int64().build()).build()
    run = SinkRun(server, {"auto.create": "true"})
    with pytest.raises(DataError, match=r"too long|table\.name\.format"):
        run.put([record(0, struct(schema, **{"x" * 20_000: 1}))])
    assert run.fence() == {}


def test_a_table_of_200_columns(server: Server) -> None:
    builder = SchemaBuilder.struct()
    for number in range(200):
        builder.field(f"c{number}", SchemaBuilder.int32().build())
    schema = builder.build()
    run = SinkRun(server, {**UPSERT, "pk.mode": "record_value", "pk.fields": "c0"})
    values = {f"c{number}": number for number in range(1, 200)}
    run.put([record(row, struct(schema, c0=row, **values)) for row in range(120)])
    assert run.rows("SELECT COUNT(*), MAX(c0), MIN(c199) FROM orders") == [(120, 119, 199)]


def test_adds_columns_of_new_fields_with_their_defaults(server: Server) -> None:
    run = SinkRun(server, UPSERT)
    run.put([order(0, 1, "a")])
    wider = SchemaBuilder.struct().field("id", SchemaBuilder.int64().build())
    wider = wider.field("label", SchemaBuilder.string().optional().build())
    wider = wider.field("amount", SchemaBuilder.float64().optional().build())
    wider = wider.field("state", SchemaBuilder.string().default_value("NEW").build())
    run.put([record(1, struct(wider.build(), id=2, label="b", amount=1.5, state="PAID"), key=2), order(2, 3, "c")])
    assert run.rows() == [(1, "a", None, "NEW"), (2, "b", 1.5, "PAID"), (3, "c", None, "NEW")]


def test_widens_numbers(server: Server) -> None:
    small = SchemaBuilder.struct().field("n", SchemaBuilder.int16().build()).field("f", SchemaBuilder.float32().build())
    large = SchemaBuilder.struct().field("n", SchemaBuilder.int64().build()).field("f", SchemaBuilder.float64().build())
    run = SinkRun(server, {"auto.create": "true", "auto.evolve": "true"})
    run.put([record(0, struct(small.build(), n=1, f=0.5))])
    run.put([record(1, struct(large.build(), n=2**40, f=0.1))])
    run.put([record(2, struct(small.build(), n=3, f=0.25))])
    assert run.rows("SELECT n, f FROM orders ORDER BY n") == [(1, 0.5), (3, 0.25), (2**40, 0.1)]


def test_says_what_is_missing_when_it_may_not_change_tables(server: Server) -> None:
    run = SinkRun(server, {**UPSERT, "auto.create": "false", "auto.evolve": "false"})
    with pytest.raises(ConnectError, match=r"table orders does not exist; create it, or set auto\.create=true"):
        run.put([order(0, 1)])
    server.execute("CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY)")
    with pytest.raises(ConnectError, match=r"no column for field label; .*auto\.evolve=true"):
        run.put([order(0, 1)])
    assert run.rows() == []
    assert run.fence() == {}


def test_tasks_that_create_and_alter_the_same_table_at_once(server: Server) -> None:
    run = SinkRun(server, UPSERT)
    run.fence()
    failures: list[BaseException] = []

    def work(partition: int) -> None:
        builder = SchemaBuilder.struct().field("id", SchemaBuilder.int64().build())
        builder.field(f"extra{partition % 2}", SchemaBuilder.string().optional().build())
        mine = SinkRun(server, UPSERT, epoch=run.epoch)
        value = struct(builder.build(), **{"id": partition, f"extra{partition % 2}": "x"})
        try:
            mine.put([record(0, value, key=partition, partition=partition)])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    retriable = [error for error in failures if "conflict" in str(error).lower() and server.kind == "duckdb"]
    assert failures == retriable
    assert len(run.rows()) == 4 - len(retriable)


def test_schemaless_records_need_a_table_they_fit(server: Server) -> None:
    run = SinkRun(server, {**UPSERT, "pk.mode": "record_value"})
    good = record(3, {"id": 1, "label": "a", "seen": "2024-02-29T12:00:00Z", "price": "1.50", "data": {"x": [1]}})
    with pytest.raises(DataError, match=r"topic orders, partition 0, offset 3: table orders does not exist.*schemas"):
        run.put([good])
    json = {"postgresql": "JSONB", "mariadb": "JSON"}.get(server.kind, "TEXT")
    server.execute(
        "CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, label VARCHAR(9), seen TIMESTAMP, price DECIMAL(9,2), "
        f"data {json})"
    )
    run.put([good, record(4, {"id": 2, "label": None}), record(5, {"label": "z", "id": 3})])
    assert run.rows("SELECT id, label FROM orders ORDER BY id") == [(1, "a"), (2, None), (3, "z")]
    assert str(run.rows("SELECT seen FROM orders WHERE id = 1")[0][0]).startswith("2024-02-29 12:00:00")
    with pytest.raises(DataError, match=r"offset 6: .*no column for field more"):
        run.put([record(6, {"id": 4, "more": 1})])
    with pytest.raises(DataError, match=r"offset 6: .*does not fit column id"):
        run.put([record(6, {"id": "four"})])


@LANES
@pytest.mark.parametrize("server", strict_servers(), indirect=True)
def test_a_value_that_does_not_fit_is_named(server: Server, in_batches: bool) -> None:
    server.execute("CREATE TABLE orders (id SMALLINT NOT NULL PRIMARY KEY, label VARCHAR(3) NOT NULL)")
    run = SinkRun(server, {**UPSERT, "pk.mode": "record_value", "auto.evolve": "false"})
    with pytest.raises(DataError, match=r"offset 1: value 70000 does not fit column id .*table orders, key id=70000"):
        run.put([order(0, 1, "a"), order(1, 70_000, "b")], in_batches)
    with pytest.raises(DataError, match=r"topic orders, partition 0, offset 2: table orders rejects the row, key id=3"):
        run.put([order(0, 1, "a"), order(1, 2, "b"), order(2, 3, None), order(3, 4, "c")], in_batches)
    assert run.rows() == []
    assert run.fence() == {}


@LANES
def test_tolerated_errors_are_reported_and_the_rest_arrives(server: Server, in_batches: bool) -> None:
    if server.kind == "sqlite":
        server.execute(
            "CREATE TABLE orders (id SMALLINT NOT NULL PRIMARY KEY, label VARCHAR(3) NOT NULL, CHECK (id < 999))"
        )
    else:
        server.execute("CREATE TABLE orders (id SMALLINT NOT NULL PRIMARY KEY, label VARCHAR(3) NOT NULL)")
    run = SinkRun(server, {**UPSERT, "pk.mode": "record_value"}, reporter=Reporter())
    run.put([order(0, 1, "a"), order(1, 70_000, "b"), order(2, 3, None), order(3, 4, "c")], in_batches)
    assert run.rows() == [(1, "a"), (4, "c")]
    assert run.reporter is not None
    assert sorted(one.kafka_offset for one, _ in run.reporter.reported) == [1, 2]
    assert run.fence() == {TopicPartition("orders", 0): 4}


def test_tombstones_and_values_that_mean_nothing_are_refused(server: Server) -> None:
    run = SinkRun(server, UPSERT)
    with pytest.raises(DataError, match=r"offset 4 has no value; set delete\.enabled=true"):
        run.put([order(3, 1), tombstone(4, 1)])
    with pytest.raises(DataError, match=r"no key, which pk\.mode=record_key needs"):
        run.put([record(3, struct(ORDER, id=1))])
    text = record(3, None, key=1)
    text.value, text.value_schema = "text", SchemaBuilder.string().build()
    with pytest.raises(DataError, match=r"STRING, not a struct .*HoistField"):
        run.put([text])


def test_settings_that_contradict_each_other_are_refused() -> None:
    from connect_core.connectors.jdbc.sink.config import sink_settings
    from connect_core.connectors.jdbc.sink.connector import JdbcSinkConnector

    base = {"connection.url": "jdbc:postgresql://h/d"}
    bad = {
        "pk.mode": {"insert.mode": "upsert"},
        "delete.enabled": {"delete.enabled": "true", "pk.mode": "record_value"},
        "pk.fields": {"pk.mode": "kafka", "pk.fields": "a,b"},
        "table.name.format": {"table.name.format": "."},
    }
    for key, settings in bad.items():
        found = {value.name: value.error_messages for value in JdbcSinkConnector().validate({**base, **settings})}
        assert [name for name, messages in found.items() if messages] == [key]
        with pytest.raises(ConfigError, match=key.replace(".", r"\.")):
            sink_settings({**base, **settings})
