"""Table → Kafka → table: each database, with schemas and without.

``make test`` takes every database once through the loop that production runs;
``make matrix`` (CONNECT_MATRIX=1) all combinations, in processes as users start
them and through Airflow.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from confluent_kafka import Consumer, TopicPartition

from connect_core.dev.stack import Stack
from connect_core.interval.values import ConnectorType
from tests.benchmarks.connector_runs import ConnectorRuns
from tests.connectors.jdbc.servers import MariaDb, Server, file_server, mariadb_running, postgresql_server
from tests.full_run import IS_FULL_RUN
from tests.integration.deployment import Deployment, eventually
from tests.integration.jdbc_rows import BEGAN, COLUMNS, PLAIN, Row, contents, create, random_rows, store
from tests.integration.test_standalone import standalone, write_worker
from tests.integration.topics import Topics

pytestmark = pytest.mark.servers

COUNT = 200
"""How many rows there are at first."""

DATABASES = ("postgresql", "mariadb", "sqlite", "duckdb")
SMOKE = [("postgresql", True), ("mariadb", True), ("sqlite", False), ("duckdb", True)]
ALL = [(kind, has_schema) for kind in DATABASES for has_schema in (True, False)]
FORMATS = {True: "json-with-schema", False: "json"}


@dataclass(frozen=True)
class Pair:
    """The database to read and the one to write."""

    source: Server
    target: Server


@pytest.fixture(scope="module")
def mariadb_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    with mariadb_running(tmp_path_factory.mktemp("mariadb")) as running:
        yield running


@pytest.fixture
def pair(request: pytest.FixtureRequest, kind: str, folder: Path) -> Pair:
    """Two empty databases of a kind, each found healthy by its own client."""
    if kind == "postgresql":
        url = request.getfixturevalue("stack").environment()["CONNECT_DATABASE_URL"]
        return Pair(*(postgresql_server(url, schema) for schema in ("jdbc_from", "jdbc_to")))
    if kind == "mariadb":
        service = request.getfixturevalue("mariadb_service")
        return Pair(service.server("jdbc_from"), service.server("jdbc_to"))
    places = [folder / name for name in ("from", "to")]
    for place in places:
        place.mkdir()
    return Pair(*(file_server(kind, place) for place in places))


@pytest.fixture
def variables(folder: Path, stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process be a worker of the stack that may use these databases."""
    for name, value in {**stack.environment(), **allowed(folder)}.items():
        monkeypatch.setenv(name, value)


def allowed(roots: Path) -> dict[str, str]:
    """Return the variables that let a worker use files below ``roots`` and all of these dialects."""
    return {"CONNECT_FILE_ROOTS": str(roots), "CONNECT_LIMITS_JDBC_DIALECTS": ",".join(DATABASES)}


def configs(pair: Pair, topic_prefix: str, has_schema: bool) -> list[dict[str, str]]:
    """Return the source of table ``orders`` and the sink of its topic."""
    converter = {
        **dict.fromkeys(("key.converter", "value.converter"), "org.apache.kafka.connect.json.JsonConverter"),
        **dict.fromkeys(("key.converter.schemas.enable", "value.converter.schemas.enable"), str(has_schema).lower()),
    }
    common = {"tasks.max": "1", "connection.backoff.ms": "100", **converter}
    source = {
        "name": f"{topic_prefix}source",
        "connector.class": "JdbcSource",
        "mode": "timestamp+incrementing",
        "timestamp.column.name": "changed",
        "incrementing.column.name": "id",
        "table.include.list": "orders",
        "topic.prefix": topic_prefix,
        "poll.interval.ms": "500",
    }
    sink = {
        "name": f"{topic_prefix}sink",
        "connector.class": "JdbcSink",
        "topics": f"{topic_prefix}orders",
        "table.name.format": "copies",
        "insert.mode": "upsert",
        "pk.mode": "record_value",
        "pk.fields": "id",
        "auto.create": str(has_schema).lower(),
        "fields.include.list": ",".join(COLUMNS if has_schema else PLAIN),
    }
    return [{**pair.source.config, **common, **source}, {**pair.target.config, **common, **sink}]


@contextmanager
def running_standalone(folder: Path, topics: Topics, given: list[dict[str, str]]) -> Iterator[None]:
    """Run the connectors for the block; at its end the worker must end well by itself."""
    worker = write_worker(folder, topics.bootstrap)
    with worker.open("a") as file:
        file.write(f"limits.jdbc.dialects={','.join(DATABASES)}\nfile.roots={folder}\n")
    files = []
    for config in given:
        files.append(folder / f"{config['name']}.properties")
        files[-1].write_text("".join(f"{key}={value}\n" for key, value in config.items()))
    with standalone(folder, worker, *files) as process:
        yield
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, (folder / "standalone.log").read_text()[-3000:]


def await_copied(topics: Topics, sink: Mapping[str, str], at_least: int) -> None:
    """Wait until the topic has so many records and the sink has passed them all."""
    topic = sink["topics"]
    assert len(topics.read(topic, at_least, seconds=120)) >= at_least, "connector failed: the source moved too little"
    eventually(lambda: behind(topics, topic, f"connect-{sink['name']}"), lambda left: left == 0, 120)


def behind(topics: Topics, topic: str, group: str) -> int:
    """Return how many offsets a consumer group has left to read."""
    consumer = Consumer({"bootstrap.servers": topics.bootstrap, "group.id": group, "enable.auto.commit": False})
    try:
        numbers = consumer.list_topics(topic, timeout=10).topics[topic].partitions
        parts = consumer.committed([TopicPartition(topic, number) for number in numbers], timeout=10)
        return sum(consumer.get_watermark_offsets(part, timeout=10)[1] - max(part.offset, 0) for part in parts)
    finally:
        consumer.close()


def prepare(pair: Pair, has_schema: bool) -> list[Row]:
    """Make the tables, with rows in the first → rows to store there later, of which some change the others."""
    random = Random(7)
    rows = random_rows(random, range(COUNT), BEGAN)
    create(pair.source, "orders", list(COLUMNS))
    if not has_schema:
        create(pair.target, "copies", PLAIN)
    store(pair.source, "orders", rows)
    return random_rows(random, [*range(0, COUNT, 3), *range(COUNT, COUNT + 20)], BEGAN + timedelta(hours=1))


def check(pair: Pair, has_schema: bool) -> None:
    """Compare both tables, as each database's client reads them."""
    names = tuple(COLUMNS) if has_schema else PLAIN
    found = contents(pair.target, "copies", names)
    assert found == contents(pair.source, "orders", names)


@pytest.mark.parametrize(("kind", "has_schema"), ALL if IS_FULL_RUN else SMOKE, ids=lambda one: FORMATS.get(one, one))
def test_a_table_is_copied(pair: Pair, has_schema: bool, folder: Path, topics: Topics, variables: None) -> None:
    later = prepare(pair, has_schema)
    given = configs(pair, f"{folder.name}-", has_schema)
    topics.create(4, given[1]["topics"])
    source = ConnectorRuns(given[0]["name"], given[0], ConnectorType.SOURCE)
    with source, ConnectorRuns(given[1]["name"], given[1]) as sink:
        assert (source.run().records, sink.run().records) == (COUNT, COUNT)
        check(pair, has_schema)
        store(pair.source, "orders", later)
        assert (source.run().records, sink.run().records) == (len(later), len(later))
    check(pair, has_schema)


HOSTILE = ['"; DROP TABLE safe; --', "a`b's", "50% :x ?", "späße ☃", "select", "x" * 60, "back\\slash", "c.d,e", " "]
"""Names that are text to a database, if they are quoted."""


def test_hostile_names_and_200_columns_are_copied(stack: Stack, folder: Path, topics: Topics, variables: None) -> None:
    source, target = (
        postgresql_server(stack.environment()["CONNECT_DATABASE_URL"], schema)
        for schema in ("hostile_from", "hostile_to")
    )
    names = [*HOSTILE, *(f"c{number}" for number in range(199 - len(HOSTILE)))]
    table = source.quote(HOSTILE[0])
    listed = ", ".join(f"{source.quote(name)} TEXT" for name in names)
    source.execute(
        "CREATE TABLE safe (id BIGINT PRIMARY KEY)", f"CREATE TABLE {table} (id BIGINT PRIMARY KEY, {listed})"
    )
    target.execute("CREATE TABLE safe (id BIGINT PRIMARY KEY)")
    texts = ", ".join(f"i || {literal(name)}" for name in names)
    source.execute(f"INSERT INTO {table} SELECT i, {texts} FROM generate_series(1, 300) AS i")
    topic = f"{folder.name}-hostile"
    topics.create(4, topic)
    # A topic cannot be named as a table can.
    routed = {"transforms": "route", "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter"}
    routed |= {"transforms.route.regex": ".*", "transforms.route.replacement": topic, "mode": "incrementing"}
    given = configs(Pair(source, target), f"{folder.name}-hostile-", has_schema=True)
    given[0] |= {"incrementing.column.name": "id", "table.exclude.list": "safe", "topic.prefix": "", **routed}
    del given[0]["table.include.list"], given[0]["timestamp.column.name"]
    given[1] |= {"topics": topic, "table.name.format": HOSTILE[0], "tasks.max": "2"}
    del given[1]["fields.include.list"]
    with (
        ConnectorRuns(given[0]["name"], given[0], ConnectorType.SOURCE) as one,
        ConnectorRuns(given[1]["name"], given[1]) as two,
    ):
        assert (one.run().records, two.run().records) == (300, 300)
    chosen = ", ".join(["id", *map(source.quote, names)])
    query = f"SELECT {chosen} FROM {table} ORDER BY id"
    found = target.rows(query)
    assert len(found[0]) == 200
    assert found == source.rows(query)
    assert target.rows("SELECT * FROM safe") == source.rows("SELECT * FROM safe") == []


def literal(text: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


if IS_FULL_RUN:

    @pytest.mark.parametrize(("kind", "has_schema"), ALL, ids=lambda one: FORMATS.get(one, one))
    def test_a_table_is_copied_by_standalone(pair: Pair, has_schema: bool, folder: Path, topics: Topics) -> None:
        later = prepare(pair, has_schema)
        given = configs(pair, f"{folder.name}-", has_schema)
        topics.create(4, given[1]["topics"])
        with running_standalone(folder, topics, given):
            await_copied(topics, given[1], COUNT)
        check(pair, has_schema)
        store(pair.source, "orders", later)
        with running_standalone(folder, topics, given):
            await_copied(topics, given[1], COUNT + len(later))
        check(pair, has_schema)

    @pytest.fixture(scope="module")
    def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, Deployment]]:
        """A stack with Airflow."""
        settings = allowed(tmp_path_factory.getbasetemp())
        stack = Stack(tmp_path_factory.mktemp("airflow"), settings=settings)
        stack.up()
        try:
            yield stack, Deployment.open(stack.environment() | settings)
        finally:
            stack.down()

    @pytest.mark.parametrize(("kind", "has_schema"), ALL, ids=lambda one: FORMATS.get(one, one))
    def test_a_table_is_copied_by_airflow(
        pair: Pair, has_schema: bool, folder: Path, deployment: tuple[Stack, Deployment]
    ) -> None:
        stack, connect = deployment
        topics = Topics(stack.environment()["CONNECT_BOOTSTRAP_SERVERS"])
        later = prepare(pair, has_schema)
        given = configs(pair, f"{folder.name}-", has_schema)
        topics.create(4, given[1]["topics"])
        for config in given:
            connect.put(config["name"], config)
        try:
            connect.await_records(given[1]["name"], COUNT)
            if pair.source.kind != "duckdb":
                store(pair.source, "orders", later)
                connect.await_records(given[1]["name"], COUNT + len(later))
        finally:
            for config in given:
                connect.delete(config["name"])
        check(pair, has_schema)
