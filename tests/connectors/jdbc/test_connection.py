"""Reaching a database: what a URL may say, and what a failure tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from connect_core.api import WorkerLimits
from connect_core.api.config import AbstractConfig, ConfigDef
from connect_core.connectors.jdbc.address import database_url, parse_address
from connect_core.connectors.jdbc.catalog import TableName
from connect_core.connectors.jdbc.config import connection_settings, with_connection_keys
from connect_core.connectors.jdbc.connection import open_database
from connect_core.errors import ConfigError, ConnectError, RetriableError
from tests.connectors.jdbc.servers import Server

_NO_LOGIN = (None, None)
_GADGETS = [
    "jdbc:postgresql://h/d?socketFactory=org.springframework.context.support.ClassPathXmlApplicationContext",
    "jdbc:postgresql://h/d?options=-c%20local_preload_libraries=x",
    "jdbc:postgresql://h/d?service=other",
    "jdbc:postgresql://h/d?passfile=/root/.pgpass",
    "jdbc:postgresql://h/d?sslkey=/etc/ssl/private/key.pem",
    "jdbc:postgresql://h/d?sslrootcert=/etc/passwd",
    "postgresql:///d?host=/var/run/postgresql",
    "postgresql://h/d?hostaddr=169.254.169.254",
    "jdbc:mysql://h/d?autoDeserialize=true",
    "jdbc:mysql://h/d?allowLoadLocalInfile=true",
    "mysql+pymysql://h/d?read_default_file=/etc/mysql/debian.cnf",
    "mysql+mysqldb://h/d",
    "postgresql+pg8000://h/d",
    "postgresql+psycopg2://h/d",
    "jdbc:h2:mem:x;INIT=RUNSCRIPT FROM 'http://x/y.sql'",
    "mssql+pyodbc:///?odbc_connect=DRIVER=/tmp/x.so",
    "jdbc:sqlite::memory:",
    "sqlite:///:memory:",
    "sqlite:////etc/passwd",
    "jdbc:sqlite:../../etc/passwd",
    "jdbc:sqlite:file:/etc/passwd?mode=ro&uri=true",
    "sqlite:///x.db?plugin=evil",
    "jdbc:postgresql:d",
    "jdbc:postgresql://h/d\njdbc:postgresql://h/e",
    "os:system",
    "",
]


@pytest.mark.parametrize("url", _GADGETS)
def test_refuses_what_could_read_files_or_load_code(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"connection\.url"):
        database_url(url, _NO_LOGIN, WorkerLimits((tmp_path,)))


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:postgresql://me:canary@h/d",
        "postgresql://me:canary@h/d",
        "jdbc:postgresql://h/d?user=me&password=canary",
        "jdbc:mysql://h/d?sslkey=canary",
    ],
)
def test_a_refusal_shows_no_credentials(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        database_url(url, _NO_LOGIN, WorkerLimits())
    assert "canary" not in str(refused.value)


def test_both_forms_mean_the_same() -> None:
    java = database_url("jdbc:postgresql://db.local:5433/orders?ssl=true", ("me", "s"), WorkerLimits())
    python = database_url("postgresql+psycopg://db.local:5433/orders?sslmode=require", ("me", "s"), WorkerLimits())
    assert java == python
    assert (
        java.render_as_string(hide_password=False) == "postgresql+psycopg://me:s@db.local:5433/orders?sslmode=require"
    )


def test_parameters_without_meaning_here_are_passed_over() -> None:
    parsed = parse_address("jdbc:mysql://h:3306/d?rewriteBatchedStatements=true&serverTimezone=UTC&useUnicode=true")
    assert (parsed.dialect, parsed.host, parsed.port, parsed.database, parsed.parameters) == (
        "mysql",
        "h",
        3306,
        "d",
        {},
    )


def test_an_address_of_ipv6_is_understood() -> None:
    assert database_url("jdbc:postgresql://[::1]:5432/d", _NO_LOGIN, WorkerLimits()).host == "::1"


def test_a_validator_refuses_bad_settings_before_anything_is_tried() -> None:
    definition = with_connection_keys(ConfigDef())
    found = definition.validate_all({"connection.url": "nonsense", "db.timezone": "Mars/Olympus"})
    assert "jdbc:postgresql://" in found["connection.url"].error_messages[0]
    assert "not a time zone" in found["db.timezone"].error_messages[0]


def test_settings_show_no_password() -> None:
    config = {"connection.url": "jdbc:postgresql://h/d", "connection.user": "me", "connection.password": "canary"}
    settings = connection_settings(AbstractConfig(with_connection_keys(ConfigDef()), config))
    assert "canary" not in repr(settings)
    assert "canary" not in repr(open_database(settings, WorkerLimits()))


def test_describes_tables(server: Server) -> None:
    server.execute(
        "CREATE TABLE things (id INTEGER NOT NULL PRIMARY KEY, label VARCHAR(20) NOT NULL DEFAULT 'x', "
        "price DECIMAL(10,2), big BIGINT, UNIQUE (label))"
    )
    database = server.open()
    with database.connect() as connection:
        assert database.dialect.table(connection, TableName(None, "absent")) is None
        table = database.dialect.table(connection, TableName(None, "things"))
    assert table is not None
    assert [column.name for column in table.columns] == ["id", "label", "price", "big"]
    assert table.primary_key == ("id",)
    assert table.is_identified_by(["label"])
    assert [column.has_default for column in table.columns] == [False, True, False, False]
    label = table.column("label")
    assert label is not None
    assert not label.nullable


def test_sqlalchemy_never_shows_what_was_bound(server: Server) -> None:
    with pytest.raises(ConnectError) as failed, server.open().connect() as connection:
        connection.exec_driver_sql("SELECT * FROM absent_table WHERE 1 = 0")
    assert "absent_table" in str(failed.value)
    assert "connect-secret" not in str(failed.value)


def test_a_server_that_is_down_is_worth_another_try() -> None:
    config = {"connection.url": "jdbc:postgresql://127.0.0.1:1/d", "connection.backoff.ms": "1"}
    database = open_database(
        connection_settings(AbstractConfig(with_connection_keys(ConfigDef()), config)), WorkerLimits()
    )
    with pytest.raises(RetriableError, match=r"127\.0\.0\.1:1/d"), database.connect():
        pass


@pytest.mark.servers
@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_a_wrong_password_is_final_and_not_shown(request: pytest.FixtureRequest, kind: str) -> None:
    found: Server = request.getfixturevalue(kind)
    wrong = Server(kind, {**found.config, "connection.password": "canary"}, found.limits)
    with pytest.raises(ConnectError) as refused, wrong.open().connect():
        pass
    assert not isinstance(refused.value, RetriableError)
    assert "canary" not in str(refused.value)
