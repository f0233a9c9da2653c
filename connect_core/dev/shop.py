"""The shop of config/connectors/shop-*.properties: a database in the stack's PostgreSQL with changing orders."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import LiteralString

import psycopg
from psycopg import sql

from connect_core.dev.home import Home
from connect_core.dev.ports import port_of
from connect_core.dev.secrets import secret
from connect_core.errors import ConnectError

__all__ = ["Change", "Shop"]

_SHOP = "shop"
"""The name of the database and of its owner."""

_FIRST_ORDERS = (("Ada", Decimal("1.50")), ("Grace", Decimal("12.00")), ("Zoë", None))
_CONNECT_SECONDS = 10
_TABLE = """
CREATE TABLE orders (
    id bigserial PRIMARY KEY,
    customer text NOT NULL,
    amount numeric(10,2),
    changed timestamptz NOT NULL DEFAULT now()
)
"""
_COPY_EXISTS = "SELECT to_regclass('order_copies') IS NOT NULL"
_COPIED = """
SELECT id FROM orders JOIN order_copies USING (id)
WHERE id = ANY(%s) AND order_copies.amount IS NOT DISTINCT FROM orders.amount
"""


@dataclass(frozen=True, slots=True)
class Change:
    """A committed transaction: one order inserted, an older one updated; ``amounts`` are those of both by id."""

    inserted: int
    updated: int
    amounts: Mapping[int, Decimal]


@dataclass(frozen=True, slots=True)
class Shop:
    """Orders in the PostgreSQL of a stack, and their copies that a connector writes to ``order_copies``."""

    home: Home

    @property
    def address(self) -> str:
        """The JDBC URL of the database for connectors: without user and password."""
        return f"jdbc:postgresql://127.0.0.1:{port_of(self.home, 'postgres')}/{_SHOP}"

    @property
    def url(self) -> str:
        """The URL of the database for PostgreSQL's own clients: with user and password."""
        password = secret(self.home, f"database-{_SHOP}")
        return f"postgresql://{_SHOP}:{password}@127.0.0.1:{port_of(self.home, 'postgres')}/{_SHOP}"

    def create(self) -> None:
        """Create what is missing: owner, database, table, first orders. Raise ConnectError."""
        superuser = secret(self.home, "postgres")
        with self._client(f"postgresql://postgres:{superuser}@127.0.0.1:{port_of(self.home, 'postgres')}") as client:
            if client.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (_SHOP,)).fetchone() is None:
                password = sql.Literal(secret(self.home, f"database-{_SHOP}"))
                client.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(_SHOP), password))
            if client.execute("SELECT 1 FROM pg_database WHERE datname = %s", (_SHOP,)).fetchone() is None:
                client.execute(sql.SQL("CREATE DATABASE {0} OWNER {0}").format(sql.Identifier(_SHOP)))
        with self._client() as client, client.transaction():
            if client.execute("SELECT to_regclass('orders')").fetchone() == (None,):
                client.execute(_TABLE)
                client.execute("CREATE INDEX ON orders (changed)")
                with client.cursor() as cursor:
                    cursor.executemany("INSERT INTO orders (customer, amount) VALUES (%s, %s)", _FIRST_ORDERS)

    def change(self) -> Change:
        """Insert an order and raise the amount of an older one, as any program would. Raise ConnectError."""
        with self._client() as client, client.transaction():
            inserted = _row(client, "INSERT INTO orders (customer, amount) VALUES ('Linus', 3) RETURNING id, amount")
            updated = _row(
                client,
                "UPDATE orders SET amount = COALESCE(amount, 0) + 0.25, changed = now()"
                " WHERE id = (SELECT min(id) FROM orders) RETURNING id, amount",
            )
        return Change(inserted[0], updated[0], dict((inserted, updated)))

    def not_copied(self, ids: Collection[int]) -> set[int]:
        """Return the orders of which ``order_copies`` does not yet have the present amount."""
        with self._client() as client:
            if client.execute(_COPY_EXISTS).fetchone() != (True,):
                return set(ids)
            return set(ids) - {id for (id,) in client.execute(_COPIED, (list(ids),)).fetchall()}

    def count(self, table: str) -> int:
        """Return how many rows a table has. Raise ConnectError."""
        with self._client() as client:
            counted = client.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone()
        return counted[0] if counted else 0

    @contextmanager
    def _client(self, url: str | None = None) -> Iterator[psycopg.Connection]:
        try:
            with psycopg.connect(url or self.url, autocommit=True, connect_timeout=_CONNECT_SECONDS) as client:
                yield client
        except psycopg.Error as error:
            raise ConnectError(f"The shop's database cannot be used: {str(error).strip()}") from error


def _row(client: psycopg.Connection, statement: LiteralString) -> tuple[int, Decimal]:
    row = client.execute(statement).fetchone()
    assert row is not None, statement
    return row[0], row[1]
