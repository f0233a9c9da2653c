"""JSON from Kafka into Iceberg tables of one SQL catalog: our Iceberg sink beside Apache Iceberg's own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pyiceberg.catalog import load_catalog

from tests.benchmarks.comparison import Goal, Way, Work
from tests.benchmarks.connector_runs import Moved
from tests.benchmarks.environment import Environment
from tests.benchmarks.works import parquet

__all__ = ["check_rows", "has_rows", "iceberg_table", "sql_catalog"]

RECORDS = parquet.RECORDS
OURS = "connect-core, IcebergSink"


def iceberg_table(environment: Environment, records: int = RECORDS) -> Work:
    """MaskField and InsertField, then a table that the sink creates."""
    parquet.fill(environment, records)
    ways = [Way(OURS, partial(ours, environment, records))]
    if environment.peer:
        ways.append(Way(parquet.ICEBERG, partial(theirs, environment, records)))
    goals = [Goal(parquet.ICEBERG, 4, limits_cpu=True)] if environment.peer else []
    title = f"{records:,} JSON orders → 2 transforms → an Iceberg table of an SQL catalog"
    return Work("iceberg", title, ways, goals)


def sql_catalog(environment: Environment, warehouse: str) -> dict[str, str]:
    """Return a catalog in the run's PostgreSQL, in the words of Apache's sink, which ours understands too."""
    address = environment.database
    return {
        "iceberg.catalog.type": "jdbc",
        "iceberg.catalog.uri": f"jdbc:postgresql://{address.host}:{address.port}/{address.database}",
        "iceberg.catalog.jdbc.user": str(address.username),
        "iceberg.catalog.jdbc.password": str(address.password),
        # The form of its tables that pyiceberg has as well.
        "iceberg.catalog.jdbc.schema-version": "V1",
        "iceberg.catalog.warehouse": warehouse,
    }


def ours(environment: Environment, records: int, turn: int) -> Moved:
    """Run a new sink of ours into a new table."""
    name, table = f"table-{turn}", f"ours.orders_{turn}"
    config = parquet.sink_config(name, environment.folder, parquet.TOPIC)
    del config["path"]
    config["connector.class"] = "org.apache.iceberg.connect.IcebergSinkConnector"
    config |= {"iceberg.tables": table, "iceberg.tables.auto-create-enabled": "true"}
    done = environment.sink(config | _local_catalog(environment))
    check_rows(environment, table, records, _local_catalog(environment))
    return done


def theirs(environment: Environment, records: int, turn: int) -> Moved:
    """Run Apache's sink into a new table."""
    table, catalog = f"theirs.orders_{turn}", _local_catalog(environment)
    config = {"iceberg.tables": table, **catalog}
    has_all = partial(has_rows, environment, table, records, catalog)
    done = parquet.iceberg(environment, parquet.TOPIC, config, turn, has_all)
    check_rows(environment, table, records, catalog)
    return done


def has_rows(environment: Environment, table: str, records: int, catalog: Mapping[str, str]) -> bool:
    """Return whether a table has as many rows as the topic records."""
    return _rows(environment, table, catalog) == records


def check_rows(environment: Environment, table: str, records: int, catalog: Mapping[str, str]) -> None:
    """Raise RuntimeError unless a table has as many rows as the topic records. No time of it is counted."""
    found = _rows(environment, table, catalog)
    if found != records:
        raise RuntimeError(f"{table} has {found} rows, not {records}")


def _rows(environment: Environment, table: str, catalog: Mapping[str, str]) -> int:
    properties = {key.removeprefix("iceberg.catalog."): text for key, text in catalog.items()}
    properties |= {
        "type": "sql",
        "uri": environment.database.set(drivername="postgresql+psycopg").render_as_string(False),
    }
    found: int = load_catalog("iceberg", **properties).load_table(table).scan().count()
    return found


def _local_catalog(environment: Environment) -> dict[str, str]:
    return sql_catalog(environment, f"file://{environment.folder}/warehouse")
