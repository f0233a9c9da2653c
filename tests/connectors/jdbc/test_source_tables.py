"""Which tables are read, and what happens to them meanwhile."""

from __future__ import annotations

import pytest

from connect_core.api.source import WrittenSchemas
from connect_core.connectors.jdbc.catalog import TableName
from connect_core.connectors.jdbc.source.assignment import key_ranges
from connect_core.connectors.jdbc.source.connector import JdbcSourceConnector
from connect_core.connectors.jdbc.source.stream import StreamName, names_from_json, names_to_json
from connect_core.connectors.jdbc.source.tables import list_tables
from connect_core.errors import ConfigError, ConnectError
from connect_core.testing.source_engine import Lane
from tests.connectors.jdbc.servers import Server
from tests.connectors.jdbc.sources import follower
from tests.full_run import examples

LANES = pytest.mark.parametrize("lane", list(Lane), ids=lambda lane: lane.value)
BY_ID = {"mode": "incrementing", "incrementing_column_name": "id"}
HOSTILE = [
    'a"; DROP TABLE safe; --',
    "two words",
    "it's",
    "per%cent :and (more)",
    "ünïcödé ✓",
    "x" * 60 + "yz",
    "back`tick",
]


def make(server: Server, *tables: str, rows: int = 2) -> None:
    values = ", ".join(f"({number})" for number in range(1, rows + 1))
    for table in tables:
        name = server.quote(table)
        server.execute(f"CREATE TABLE {name} (id BIGINT NOT NULL PRIMARY KEY)", f"INSERT INTO {name} VALUES {values}")


def tables_of(server: Server, **config: str) -> list[str]:
    source = follower(server, mode="bulk", **config)
    source.interval()
    return sorted({record.topic or "" for record in source.records})


def test_all_tables_are_read_without_a_choice(server: Server) -> None:
    make(server, "one", "two")
    assert tables_of(server) == ["test-one", "test-two"]


def test_tables_are_chosen_by_name_and_expression(sqlite: Server) -> None:
    make(sqlite, "orders", "orders_old", "people")
    assert tables_of(sqlite, table_include_list="orders") == ["test-orders"]
    assert tables_of(sqlite, table_whitelist="orders.*") == ["test-orders", "test-orders_old"]
    assert tables_of(sqlite, table_exclude_list="orders.*") == ["test-people"]
    assert tables_of(sqlite, table_blacklist="people,orders") == ["test-orders_old"]


def test_views_are_read_on_demand(server: Server) -> None:
    make(server, "base")
    server.execute("CREATE VIEW seen AS SELECT id + 10 AS id FROM base")
    assert tables_of(server) == ["test-base"]
    assert tables_of(server, table_types="VIEW") == ["test-seen"]


def test_hostile_names_are_names(server: Server) -> None:
    names = [name for name in HOSTILE if not (server.kind == "duckdb" and ":" in name)]
    make(server, *names)
    column = server.quote('c"; --')
    server.execute(
        f"CREATE TABLE safe (id BIGINT NOT NULL PRIMARY KEY, {column} VARCHAR(9))", "INSERT INTO safe VALUES (1, 'x')"
    )
    source = follower(server, **BY_ID)
    source.interval()
    found = {record.topic for record in source.records}
    assert found == {f"test-{name}" for name in [*names, "safe"]}
    safe = [record for record in source.records if record.topic == "test-safe"]
    assert safe[0].value['c"; --'] == "x"


@LANES
@pytest.mark.servers
def test_hostile_names_in_columns(postgresql: Server, lane: Lane) -> None:
    table, column = postgresql.quote(HOSTILE[0]), postgresql.quote("per%cent :x")
    postgresql.execute(
        f"CREATE TABLE {table} (id BIGINT PRIMARY KEY, {column} TIMESTAMP NOT NULL)",
        f"INSERT INTO {table} VALUES (1, '2024-01-01')",
    )
    source = follower(postgresql, lane, mode="timestamp", timestamp_column_name="per%cent :x")
    assert source.rows("id") == [1]
    postgresql.execute(f"INSERT INTO {table} VALUES (2, '2024-01-02')")
    assert source.rows("id") == [2]


@pytest.mark.servers
def test_many_tables_and_new_ones(postgresql: Server) -> None:
    tables = examples(40, 300)
    creating = [f"CREATE TABLE t{number:03} (id INTEGER PRIMARY KEY)" for number in range(tables)]
    filling = [f"INSERT INTO t{number:03} VALUES (1), (2)" for number in range(tables)]
    postgresql.execute(*creating, *filling)
    source = follower(postgresql, Lane.RECORDS, 4, **BY_ID)
    connector = source.engine.start()
    assigned = [names_from_json(config["task.streams"]) for config in connector.task_configs(4)]
    assert sorted(map(len, assigned)) == [tables // 4] * 4
    assert len(source.interval()) == 2 * tables
    assert source.is_idle()
    postgresql.execute("CREATE TABLE later (id INTEGER PRIMARY KEY)", "INSERT INTO later VALUES (7)", "DROP TABLE t005")
    assert source.rows("id") == [7]
    assert source.is_idle()


def test_a_table_dropped_under_its_task_ends_alone(server: Server) -> None:
    make(server, "a", "b", "c")
    source = follower(server, **BY_ID)
    bound = source.engine.bound(source.position)
    server.execute("DROP TABLE b")
    source.commit(source.engine.read(bound=bound))
    assert {record.topic for record in source.records} == {"test-a", "test-c"}
    assert source.is_idle()


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("postgresql", marks=pytest.mark.servers),
        pytest.param("mariadb", marks=pytest.mark.servers),
        "sqlite",
    ],
)
def test_altered_tables_go_on_in_a_new_version(request: pytest.FixtureRequest, kind: str) -> None:
    server = request.getfixturevalue(kind)
    server.execute(
        "CREATE TABLE shop (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(9))", "INSERT INTO shop VALUES (1, 'a')"
    )
    source = follower(server, Lane.BATCHES, **BY_ID)
    source.interval()
    steps = [
        ("ALTER TABLE shop ADD COLUMN price INTEGER", "(2, 'b', 5)", ["id", "name", "price"]),
        ("ALTER TABLE shop RENAME COLUMN name TO title", "(3, 'c', 6)", ["id", "title", "price"]),
        ("ALTER TABLE shop DROP COLUMN price", "(4, 'd')", ["id", "title"]),
    ]
    for version, (change, row, columns) in enumerate(steps, 2):
        server.execute(change, f"INSERT INTO shop VALUES {row}")
        record = source.interval()[0]
        assert record.value_schema is not None
        assert [field.name for field in record.value_schema.fields] == columns
        assert record.value_schema.version == version
    server.execute("INSERT INTO shop VALUES (5, 'e')")
    schema = source.interval()[0].value_schema
    assert schema is not None
    assert schema.version == 4
    assert [record.value["id"] for record in source.records] == [1, 2, 3, 4, 5]


def test_a_table_altered_after_the_plan_flows_on(server: Server) -> None:
    make(server, "shop")
    source = follower(server, **BY_ID)
    bound = source.engine.bound(source.position)
    server.execute("ALTER TABLE shop ADD COLUMN extra VARCHAR(9)")
    source.commit(source.engine.read(bound=bound))
    assert [record.value["extra"] for record in source.records] == [None, None]


def test_a_mode_column_that_has_gone_is_fatal(sqlite: Server) -> None:
    sqlite.execute("CREATE TABLE shop (id INTEGER PRIMARY KEY, nr INTEGER NOT NULL)", "INSERT INTO shop VALUES (1, 1)")
    source = follower(sqlite, mode="incrementing", incrementing_column_name="nr")
    source.interval()
    sqlite.execute("ALTER TABLE shop DROP COLUMN nr")
    with pytest.raises(ConnectError, match="no column nr in table shop"):
        source.interval()


@LANES
@pytest.mark.servers
def test_wide_tables(postgresql: Server, lane: Lane) -> None:
    columns = ", ".join(f"c{number} INTEGER" for number in range(200))
    postgresql.execute(
        f"CREATE TABLE wide (id INTEGER PRIMARY KEY, {columns})",
        f"INSERT INTO wide SELECT n, {', '.join(['n'] * 200)} FROM generate_series(1, 50) n",
    )
    rows = follower(postgresql, lane, **BY_ID).rows()
    assert len(rows) == 50
    assert set(rows[7].values()) == {8}
    assert len(rows[7]) == 201


@pytest.mark.servers
def test_rows_deleted_after_the_plan_end_the_interval(postgresql: Server) -> None:
    make(postgresql, "shop", rows=5)
    source = follower(postgresql, Lane.BATCHES, **BY_ID)
    bound = source.engine.bound(source.position)
    postgresql.execute("DELETE FROM shop WHERE id > 3")
    source.commit(source.engine.read(bound=bound))
    assert [record.value["id"] for record in source.records] == [1, 2, 3]
    assert source.position.offsets == bound
    assert source.is_idle()


@LANES
@pytest.mark.servers
def test_large_tables_are_split_by_key(postgresql: Server, lane: Lane) -> None:
    postgresql.execute(
        "CREATE TABLE large (id BIGINT PRIMARY KEY)",
        "INSERT INTO large SELECT n * 2500 - 3000 FROM generate_series(1, 400) n",
    )
    source = follower(postgresql, lane, 4, mode="bulk", poll_interval_ms="3600000")
    numbers = source.rows("id")
    assert len(source.position.offsets) == 4
    assert sorted(numbers) == [n * 2500 - 3000 for n in range(1, 401)]
    assert source.is_idle()


def test_key_ranges_stay_while_a_table_grows() -> None:
    table = TableName("s", "t")
    before = key_ranges(table, 900_000, 4)
    assert before == key_ranges(table, 1_000_000, 4)
    assert [(one.low, one.high) for one in before] == [
        (None, 262144),
        (262144, 524288),
        (524288, 786432),
        (786432, None),
    ]
    assert key_ranges(table, 10, 4) == [StreamName(table)]
    assert names_from_json(names_to_json(before)) == before


@pytest.mark.servers
def test_schemas_catalogs_and_partitions_are_chosen(postgresql: Server, mariadb: Server) -> None:
    postgresql.execute(
        "DROP SCHEMA IF EXISTS jdbc_other CASCADE",
        "CREATE SCHEMA jdbc_other",
        "CREATE TABLE jdbc_other.x (id INTEGER PRIMARY KEY)",
        "CREATE TABLE parts (id INTEGER PRIMARY KEY) PARTITION BY RANGE (id)",
        "CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (100)",
        "INSERT INTO parts VALUES (1)",
        "INSERT INTO jdbc_other.x VALUES (1)",
    )
    assert tables_of(postgresql) == ["test-parts"]
    assert tables_of(postgresql, schema_pattern="jdbc%") == ["test-parts", "test-x"]
    assert follower(postgresql, **BY_ID).rows("id") == [1]
    mariadb.execute(
        "CREATE DATABASE IF NOT EXISTS jdbc_else", "CREATE TABLE IF NOT EXISTS jdbc_else.y (id INT PRIMARY KEY)"
    )
    mariadb.execute("REPLACE INTO jdbc_else.y VALUES (1)")
    assert tables_of(mariadb, catalog_pattern="jdbc_el%") == ["test-y"]


@pytest.mark.parametrize(
    ("config", "key", "said"),
    [
        ({"mode": "timestamp"}, "timestamp.column.name", "give the column"),
        ({"mode": "bulk", "query": "DELETE FROM a"}, "query", "changes nothing"),
        ({"mode": "bulk", "query": "SELECT 1; SELECT 2"}, "query", "one statement"),
        ({"mode": "bulk", "query": "SELECT 1) AS x; DROP TABLE y; SELECT * FROM (SELECT 2"}, "query", "cannot be read"),
        ({"mode": "bulk", "query": "DO $$ BEGIN END $$"}, "query", "query"),
        ({"mode": "bulk", "query": "COPY t TO PROGRAM 'x'"}, "query", "query"),
        (
            {"mode": "bulk", "query": "WITH d AS (DELETE FROM a RETURNING *) SELECT * FROM d"},
            "query",
            "changes nothing",
        ),
        ({"mode": "bulk", "table.include.list": "a", "table.exclude.list": "b"}, "table.exclude.list", "either"),
        ({"mode": "bulk", "table.include.list": "a", "table.whitelist": "b"}, "mode", "old name"),
        ({"mode": "never"}, "mode", "must be one of"),
    ],
)
def test_settings_are_refused_by_name(config: dict[str, str], key: str, said: str) -> None:
    base = {"connection.url": "jdbc:postgresql://localhost/db", "topic.prefix": "t-"}
    found = {one.name: one.error_messages for one in JdbcSourceConnector().validate({**base, **config})}
    assert [name for name, errors in found.items() if errors] == [key]
    assert said in found[key][0]


def test_live_checks_name_what_is_wrong(server: Server) -> None:
    make(server, "orders")
    connector = JdbcSourceConnector()

    def found(**config: str) -> dict[str, list[str]]:
        given = {
            "topic.prefix": "t-",
            "mode": "bulk",
            **server.config,
            **{k.replace("_", "."): v for k, v in config.items()},
        }
        return {key: list(errors) for key, errors in connector.validate_live(given, server.limits).items() if errors}

    assert found() == {}
    assert "no table missing" in found(table_include_list="orders,missing")["table.include.list"][0]
    assert "no column nr" in found(mode="incrementing", incrementing_column_name="nr")["incrementing.column.name"][0]
    assert "nowhere" in found(query="SELECT * FROM nowhere")["query"][0]


def test_schemas_are_told_as_they_are_written(server: Server) -> None:
    server.execute(
        "CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, note VARCHAR(20), price NUMERIC(8, 2) NOT NULL)",
        "INSERT INTO orders VALUES (1, NULL, 2.50)",
        "CREATE TABLE keyless (id INTEGER)",
        "INSERT INTO keyless VALUES (1)",
    )
    source = follower(server, mode="bulk")
    source.interval()
    written = {record.topic: WrittenSchemas(record.key_schema, record.value_schema) for record in source.records}
    given = {**server.config, "mode": "bulk", "topic.prefix": "test-"}
    assert JdbcSourceConnector().written_schemas(given, server.limits) == written
    assert [one.key is None for _, one in sorted(written.items())] == [True, False]


@pytest.mark.servers
def test_live_checks_name_missing_rights_and_shared_topics(postgresql: Server) -> None:
    make(postgresql, "open", "closed")
    postgresql.execute(
        "DROP SCHEMA IF EXISTS jdbc_other CASCADE", "CREATE SCHEMA jdbc_other", "CREATE TABLE jdbc_other.open (id INT)"
    )
    given = {"topic.prefix": "t-", "mode": "bulk", **postgresql.config, "schema.pattern": "jdbc%"}
    found = JdbcSourceConnector().validate_live(given, postgresql.limits)
    assert "jdbc_other.open, jdbc_test.open would share the topic t-open" in found["table.include.list"][0]
    wrong = {**given, "connection.password": "wrong-secret"}
    answer = JdbcSourceConnector().validate_live(wrong, postgresql.limits)
    assert list(answer) == ["connection.url"]
    assert "wrong-secret" not in str(answer)


def test_both_lists_are_refused_at_start(sqlite: Server) -> None:
    with pytest.raises(ConfigError, match="either"):
        follower(sqlite, mode="bulk", table_include_list="a", table_exclude_list="b").engine.start()


def test_tables_are_listed_in_order(sqlite: Server) -> None:
    make(sqlite, "b", "a")
    connector = follower(sqlite, mode="bulk").engine.start()
    assert isinstance(connector, JdbcSourceConnector)
    with sqlite.open().connect() as connection:
        found = list_tables(connection, connector._settings.selection)
    assert [name.name for name in found] == ["a", "b"]
