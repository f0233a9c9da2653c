"""JSON from Kafka to Parquet on an S3 server: our files beside those of Connect's Iceberg sink, in the same server."""

from __future__ import annotations

from functools import partial

from tests.benchmarks.comparison import Goal, Way, Work
from tests.benchmarks.connector_runs import Moved
from tests.benchmarks.environment import Environment
from tests.benchmarks.works import parquet
from tests.benchmarks.works.iceberg import check_rows, has_rows, sql_catalog
from tests.connectors.filesystem.storages.s3.servers import ACCESS, SECRET, S3Server

__all__ = ["parquet_to_s3"]

RECORDS = parquet.RECORDS
OURS, LOCAL = "connect-core, FileSystemSink to S3", "connect-core, FileSystemSink to a folder"


def parquet_to_s3(environment: Environment, server: S3Server, records: int = RECORDS) -> Work:
    """MaskField and InsertField; beside ours to a folder too, which shows what the store costs."""
    parquet.fill(environment, records)
    ways = [Way(OURS, partial(ours, environment, server, records))]
    goals = []
    if environment.peer:
        ways.append(Way(parquet.ICEBERG, partial(theirs, environment, server, records)))
        goals.append(Goal(parquet.ICEBERG, 4, limits_cpu=True))
    ways.append(Way(LOCAL, partial(parquet.ours, environment, parquet.TWO)))
    title = f"{records:,} JSON orders → 2 transforms → Parquet on an S3 server"
    return Work("parquet-s3", title, ways, goals)


def ours(environment: Environment, server: S3Server, records: int, turn: int) -> Moved:
    """Run a new sink of ours, below a new prefix."""
    name = f"s3-{turn}"
    config = parquet.sink_config(name, environment.folder, parquet.TOPIC)
    # The tests' own settings of a store have the smallest part there is; here it is the default.
    store = {
        key: text for key, text in server.config(name).items() if key not in ("s3.part.size", "s3.retry.backoff.ms")
    }
    done = environment.sink({**config, **store})
    if done.records != records or not any(key.endswith(".parquet") for key in server.listed(name)):
        raise RuntimeError(f"{name}: {done.records} records of {records} were moved to {server.listed(name)}")
    return done


def theirs(environment: Environment, server: S3Server, records: int, turn: int) -> Moved:
    """Run Connect's Iceberg sink into a new table whose files are in the same bucket."""
    table = f"s3.orders_{turn}"
    catalog = sql_catalog(environment, f"s3://{server.bucket}/warehouse") | {
        "iceberg.catalog.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "iceberg.catalog.s3.endpoint": server.url,
        "iceberg.catalog.s3.path-style-access": "true",
        "iceberg.catalog.s3.access-key-id": ACCESS,
        "iceberg.catalog.s3.secret-access-key": SECRET,
        "iceberg.catalog.client.region": "us-east-1",
    }
    # pyiceberg names its file systems otherwise.
    known = {key: text for key, text in catalog.items() if not key.endswith(("io-impl", "client.region"))}
    known["iceberg.catalog.s3.region"] = "us-east-1"
    has_all = partial(has_rows, environment, table, records, known)
    done = parquet.iceberg(environment, parquet.TOPIC, {"iceberg.tables": table, **catalog}, turn, has_all)
    check_rows(environment, table, records, known)
    return done
