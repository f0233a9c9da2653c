"""Whatever rows there are: table → Kafka → table gives equal tables, on PostgreSQL by columns and record by record.

``make test`` tries a few examples; ``make matrix`` (CONNECT_MATRIX=1) many, and the other databases.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, date, datetime, time
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from connect_core.dev.stack import Stack
from connect_core.interval.values import ConnectorType
from connect_core.registry import registry
from connect_core.spark.code import build_archive
from tests.benchmarks.connector_runs import ConnectorRuns
from tests.connectors.jdbc.servers import file_server, mariadb_running, postgresql_server
from tests.connectors.jdbc.test_source_types import POSTGRESQL
from tests.full_run import IS_FULL_RUN
from tests.integration import record_lane_connectors
from tests.integration.distribution import install
from tests.integration.jdbc_rows import BEGAN, COLUMNS, create, store
from tests.integration.test_jdbc_round_trip import Pair, allowed, check, configs
from tests.integration.topics import Topics

pytestmark = [pytest.mark.servers, pytest.mark.timeout(900)]

LANES = {"columns": ("JdbcSource", "JdbcSink"), "records": ("it.RecordsSource", "it.RecordsSink")}
TYPES = {
    **{name: kind for name, kind in POSTGRESQL.items() if name not in ("code", "span", "bits", "zoned")},
    "vast": "NUMERIC(60, 20)",
}
"""Column → type; not those that Connect has another for, and that cannot be told from it in the copy."""
AS_COPIED = {
    "moment": "{} AT TIME ZONE 'UTC'",
    **dict.fromkeys(("doc", "uid", "address"), "{}::text"),
}
"""What becomes another type on its way, and how the first says the same as the second."""

_TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=12)


def _to_milliseconds(value: Any) -> Any:
    """Cut what Connect's times have no room for."""
    return value.replace(microsecond=value.microsecond // 1000 * 1000)


def _decimals(digits: int, places: int) -> st.SearchStrategy[Decimal]:
    most = 10**digits - 1
    return st.integers(-most, most).map(lambda number: Decimal(f"{number}E-{places}"))


_MOMENTS = st.datetimes(datetime.min, datetime.max).map(_to_milliseconds)
# NaN and infinities are not JSON: Connect's JsonConverter, and so ours, reads them back as 0.
VALUES: Mapping[str, st.SearchStrategy[Any]] = {
    "small": st.integers(-(2**15), 2**15 - 1),
    "whole": st.integers(-(2**31), 2**31 - 1),
    "big": st.integers(-(2**63), 2**63 - 1),
    "price": _decimals(12, 2),
    "huge": _decimals(38, 0),
    "vast": _decimals(60, 20),
    "open": _decimals(30, 9),
    "ratio": st.floats(width=32, allow_nan=False, allow_infinity=False),
    "rate": st.floats(allow_nan=False, allow_infinity=False),
    "flag": st.booleans(),
    "name": _TEXT,
    "raw": st.binary(max_size=12),
    "day": st.dates(),
    "hour": st.times().map(_to_milliseconds),
    "local": _MOMENTS,
    "moment": _MOMENTS.map(lambda moment: moment.replace(tzinfo=UTC)),
    "doc": st.dictionaries(st.text("ab ", max_size=3), st.none() | st.integers() | st.booleans(), max_size=2),
    "uid": st.uuids(),
    "address": st.ip_addresses(),
    "tags": st.lists(_TEXT | st.none(), max_size=3),
    "counts": st.lists(st.integers(-9, 9) | st.none(), max_size=3),
    "sums": st.lists(_decimals(10, 2) | st.none(), max_size=3),
}
EXTREMES = {
    "small": -(2**15),
    "whole": -(2**31),
    "big": -(2**63),
    "price": Decimal("-9999999999.99"),
    "huge": Decimal(10**38 - 1),
    "vast": Decimal(f"-{10**60 - 1}E-20"),
    "open": Decimal("1E-38"),
    "ratio": -3.4028234663852886e38,
    "rate": 5e-324,
    "flag": False,
    "name": "\\N \t\r\n ☃ 😀 'x\" {}",
    "raw": b"\x00\xff\\",
    "day": date.min,
    "hour": time(23, 59, 59, 999000),
    "local": _to_milliseconds(datetime.max),
    "moment": datetime.min.replace(tzinfo=UTC),
    "doc": {"": None},
    "uid": "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "address": "::",
    "tags": ["", None, "NULL", "{", '"', "\\"],
    "counts": [],
    "sums": [None],
}
NOTHING = dict.fromkeys(TYPES)
ROWS = st.lists(st.fixed_dictionaries({name: st.none() | one for name, one in VALUES.items()}), min_size=1, max_size=8)
"""Rows without their ids."""


class Chain:
    """The stack's PostgreSQL twice, and Kafka between."""

    def __init__(self, stack: Stack, topics: Topics) -> None:
        url = stack.environment()["CONNECT_DATABASE_URL"]
        self._source, self._target = (postgresql_server(url, schema) for schema in ("any_from", "any_to"))
        self._topics = topics
        self._numbers = count()

    def copy(self, rows: Sequence[Mapping[str, Any]], lane: str) -> None:
        """Store rows in a new table and copy it."""
        columns = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
        values = ", ".join(f"CAST(:{name} AS {kind})" for name, kind in TYPES.items())
        with self._source.open().begin() as connection:
            connection.execute(sa.text("DROP TABLE IF EXISTS kinds"))
            connection.execute(sa.text(f"CREATE TABLE kinds (id SERIAL PRIMARY KEY, {columns})"))
            names = ", ".join(TYPES)
            connection.execute(
                sa.text(f"INSERT INTO kinds ({names}) VALUES ({values})"),
                [{name: _bound(value) for name, value in row.items()} for row in rows],
            )
        self._target.execute("DROP TABLE IF EXISTS copies")
        prefix = f"any-{lane}-{next(self._numbers)}-"
        self._topics.create(2, f"{prefix}kinds")
        source, sink = self._configs(prefix, lane)
        with ExitStack() as ended:
            source_run = ended.enter_context(ConnectorRuns(source["name"], source, ConnectorType.SOURCE))
            sink_run = ended.enter_context(ConnectorRuns(sink["name"], sink))
            assert (source_run.run().records, sink_run.run().records) == (len(rows), len(rows))

    def differences(self) -> list[tuple[Any, ...]]:
        """Return where the tables are not equal, as PostgreSQL tells it: (id, column, there, here)."""
        queries = [
            f"SELECT id, '{name}' AS name, ({there})::text AS there, copies.{name}::text AS here"
            f" FROM any_from.kinds FULL JOIN any_to.copies USING (id)"
            f" WHERE ({there}) IS DISTINCT FROM copies.{name}"
            for name, there in ((name, AS_COPIED.get(name, "{}").format(f"kinds.{name}")) for name in ("id", *TYPES))
        ]
        return self._source.rows(" UNION ALL ".join(queries))

    def _configs(self, prefix: str, lane: str) -> list[dict[str, str]]:
        classes = LANES[lane]
        json_converter = "org.apache.kafka.connect.json.JsonConverter"
        common = {"tasks.max": "1", "value.converter": json_converter, "value.converter.schemas.enable": "true"}
        source = {
            "name": f"{prefix}source",
            "connector.class": classes[0],
            "mode": "incrementing",
            "incrementing.column.name": "id",
            "table.include.list": "kinds",
            "topic.prefix": prefix,
        }
        sink = {
            "name": f"{prefix}sink",
            "connector.class": classes[1],
            "topics": f"{prefix}kinds",
            "table.name.format": "copies",
            "pk.mode": "record_value",
            "pk.fields": "id",
            "auto.create": "true",
        }
        return [{**self._source.config, **common, **source}, {**self._target.config, **common, **sink}]


def _bound(value: Any) -> Any:
    """Return a value as the driver takes it."""
    if isinstance(value, dict):
        return json.dumps(value)
    return value if value is None or isinstance(value, _PLAIN) else str(value)


_PLAIN = (bool, int, float, str, bytes, Decimal, list, date, time)


@pytest.fixture(scope="module")
def chain(stack: Stack, topics: Topics, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    """The chain, and a worker in this process that has the connectors of both lanes."""
    os.environ.update(stack.environment())
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("installed")
        classes = {f"it.{name}": name for name in ("RecordsSource", "RecordsSink")}
        patch.syspath_prepend(str(install(place, Path(record_lane_connectors.__file__), classes)))
        importlib.invalidate_caches()
        _forget_plugins()
        yield Chain(stack, topics)
    _forget_plugins()


def _forget_plugins() -> None:
    """Let what is installed be looked at again, for this process and for what travels to Spark's."""
    registry.cache_clear()
    build_archive.cache_clear()


@pytest.mark.parametrize("lane", LANES)
@settings(
    max_examples=60 if IS_FULL_RUN else 2,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
@example([EXTREMES, NOTHING])
@given(ROWS)
def test_any_rows_arrive_as_they_are(chain: Chain, lane: str, rows: list[dict[str, Any]]) -> None:
    chain.copy(rows, lane)
    assert chain.differences() == []


ANY = st.fixed_dictionaries({
    "label": st.none() | _TEXT,
    **{name: st.none() | VALUES[other] for name, other in (("small", "small"), ("number", "whole"), ("ratio", "rate"))},
    "price": st.none() | _decimals(18, 4),
    "is_open": st.none() | st.booleans(),
    "day": st.none() | st.dates(date(1000, 1, 1)),
    "data": st.none() | VALUES["raw"],
})  # fmt: skip
"""Rows of the types that all databases have, without ``id`` and ``changed``."""

if IS_FULL_RUN:

    @pytest.mark.parametrize("kind", ["mariadb", "sqlite", "duckdb"])
    @settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(ANY, min_size=1, max_size=8))
    def test_any_rows_arrive_on_other_databases(
        kind: str, empty_pair: Callable[[str], Pair], topics: Topics, rows: list[dict[str, Any]]
    ) -> None:
        pair = empty_pair(kind)
        create(pair.source, "orders", list(COLUMNS))
        store(pair.source, "orders", [{"id": id, "changed": BEGAN, **row} for id, row in enumerate(rows)])
        source, sink = configs(pair, f"any-{uuid4().hex[:8]}-", has_schema=True)
        topics.create(2, sink["topics"])
        with (
            ConnectorRuns(source["name"], source, ConnectorType.SOURCE) as one,
            ConnectorRuns(sink["name"], sink) as two,
        ):
            assert (one.run().records, two.run().records) == (len(rows), len(rows))
        check(pair, has_schema=True)

    @pytest.fixture(scope="module")
    def empty_pair(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Pair]]:
        """Return what makes two empty databases of a kind, which this process's worker may use."""
        root = tmp_path_factory.mktemp("databases")
        os.environ.update({**stack.environment(), **allowed(root)})

        def files() -> Iterator[Path]:
            for name in ("from", "to"):
                (place := root / f"{uuid4().hex}-{name}").mkdir()
                yield place

        with mariadb_running(tmp_path_factory.mktemp("mariadb")) as mariadb:

            def pair(kind: str) -> Pair:
                if kind == "mariadb":
                    return Pair(mariadb.server("any_from"), mariadb.server("any_to"))
                return Pair(*(file_server(kind, place) for place in files()))

            yield pair
