"""The shop of config/connectors: a table → Kafka → another table and Parquet, with a row inserted and one updated."""

from __future__ import annotations

from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path

import psycopg
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

from connect_core.configs import read_connector_file
from connect_core.dev.stack import Stack
from connect_core.interval.values import ConnectorType
from tests.benchmarks.connector_runs import ConnectorRuns

pytestmark = pytest.mark.servers

EXAMPLES = Path(__file__).parents[2] / "config" / "connectors"
TABLE = (
    "CREATE TABLE orders (id bigserial PRIMARY KEY, customer text NOT NULL, amount numeric(10,2), "
    "changed timestamptz NOT NULL DEFAULT now())"
)


def example(name: str, address: sa.URL, folder: Path) -> dict[str, str]:
    """Return an example's configuration for the test's own database and folder; nothing else is changed."""
    config = dict(read_connector_file(EXAMPLES / f"{name}.properties").config)
    own = {
        "connection.url": f"jdbc:postgresql://{address.host}:{address.port}/{address.database}?currentSchema=shop",
        "connection.user": str(address.username),
        "connection.password": str(address.password),
        "path": str(folder / "parquet"),
    }
    return {**config, **{key: value for key, value in own.items() if key in config}}


def test_the_shop_is_copied_live(stack: Stack, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in {**stack.environment(), "CONNECT_FILE_ROOTS": str(folder)}.items():
        monkeypatch.setenv(variable, value)
    address = sa.make_url(stack.environment()["CONNECT_DATABASE_URL"])
    url = address.set(drivername="postgresql").render_as_string(hide_password=False)
    with ExitStack() as open_things:
        client = open_things.enter_context(psycopg.connect(url, autocommit=True))
        for statement in ("CREATE SCHEMA shop", "SET search_path TO shop", TABLE):
            client.execute(statement)
        client.execute("INSERT INTO orders (customer, amount) VALUES ('Ada', 1.50), ('Zoë', NULL)")
        kinds = {"orders": ConnectorType.SOURCE, "copies": ConnectorType.SINK, "parquet": ConnectorType.SINK}
        shop = [
            open_things.enter_context(ConnectorRuns(f"shop-{name}", example(f"shop-{name}", address, folder), kind))
            for name, kind in kinds.items()
        ]
        assert [connector.run().records for connector in shop] == [2, 2, 2]
        client.execute("INSERT INTO orders (customer, amount) VALUES ('Linus', 3)")
        client.execute("UPDATE orders SET amount = 2.25, changed = now() WHERE customer = 'Ada'")
        assert [connector.run().records for connector in shop] == [2, 2, 2]
        copied = client.execute("SELECT customer, amount FROM order_copies ORDER BY id").fetchall()
    assert copied == [("Ada", Decimal("2.25")), ("Zoë", None), ("Linus", Decimal("3.00"))]
    files = (folder / "parquet" / "shop-orders").glob("partition=*/*.parquet")
    rows = [row for file in files for row in pq.ParquetFile(file).read(["customer", "amount"]).to_pylist()]
    assert sorted((row["customer"], row["amount"]) for row in rows if row["customer"] != "Zoë") == [
        ("Ada", Decimal("1.50")),
        ("Ada", Decimal("2.25")),
        ("Linus", Decimal("3.00")),
    ]
