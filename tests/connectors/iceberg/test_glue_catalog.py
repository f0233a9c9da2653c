"""Glue as a catalog, on moto, with the tables in a bucket of it.

moto accepts every change of a table; Glue refuses one that was not made of the newest version. That is added here.
moto knows neither rights nor limits of requests either. Nothing here ran on AWS.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from moto.core.exceptions import JsonRESTError
from moto.glue.responses import GlueResponse
from pyiceberg.catalog.glue import GlueCatalog

from connect_core.errors import StaleEpochError
from tests.connectors.filesystem.storages.s3.servers import ACCESS, SECRET, S3Server, moto_running
from tests.connectors.iceberg.lake import Lake, numbered

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with moto_running() as url:
        yield url


@pytest.fixture(autouse=True)
def versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse a change of another version than the table's, as Glue does."""
    straight = GlueResponse.update_table

    def update_table(self: Any) -> Any:
        given = self.parameters.get("VersionId")
        table = self.glue_backend.get_table(self.parameters["DatabaseName"], self.parameters["TableInput"]["Name"])
        if given is not None and given != table.as_dict()["VersionId"]:
            raise JsonRESTError("ConcurrentModificationException", f"version {given} is not the newest")
        return straight(self)

    monkeypatch.setattr(GlueResponse, "update_table", update_table)


class GlueLake(Lake):
    """One whose catalog is Glue."""

    properties: dict[str, str]

    @property
    def catalog(self) -> GlueCatalog:
        return GlueCatalog("iceberg", **self.properties)


@pytest.fixture
def lake(url: str, tmp_path: Path) -> GlueLake:
    login = {"region": "us-east-1", "endpoint": url, "access-key-id": ACCESS, "secret-access-key": SECRET}
    given = {f"{service}.{key}": value for service in ("glue", "s3") for key, value in login.items()}
    bucket = S3Server(url).bucket
    found = GlueLake(tmp_path)
    found.properties = {"type": "glue", "warehouse": f"s3://{bucket}/warehouse", **given}
    # Each test has a namespace of its own: all of them share one Glue.
    found.config = {
        **{key: value for key, value in found.config.items() if not key.startswith("iceberg.catalog.")},
        **{f"iceberg.catalog.{key}": value for key, value in found.properties.items()},
        "iceberg.tables": f"{bucket}.orders",
        "control.namespace": f"{bucket}-control",
    }
    return found


def rows(lake: GlueLake) -> list[dict[str, Any]]:
    return sorted(lake.rows(lake.config["iceberg.tables"]), key=lambda row: row["a"])


def test_rows_and_new_columns(lake: GlueLake) -> None:
    lake.run(numbered([{"a": 1}, {"a": 2}]))
    lake.run(numbered([{"a": 3, "b": "new"}], first=2), sequence=2)
    assert rows(lake) == [{"a": 1, "b": None}, {"a": 2, "b": None}, {"a": 3, "b": "new"}]


def test_rows_are_updated_by_key(lake: GlueLake) -> None:
    lake.set({"iceberg.tables.upsert-mode-enabled": "true", "iceberg.tables.default-id-columns": "a"})
    lake.run(numbered([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]))
    lake.run(numbered([{"a": 2, "b": "z"}], first=2), sequence=2)
    assert rows(lake) == [{"a": 1, "b": "x"}, {"a": 2, "b": "z"}]


def test_tasks_that_begin_together_find_one_table(lake: GlueLake) -> None:
    with ThreadPoolExecutor(4) as threads:
        parts = threads.map(lambda task: lake.stage(numbered([{"a": task}], partition=task)), range(4))
        staged = [part for some in parts for part in some]
    committer = lake.committer()
    committer.publish(lake.key(), committer.commit(lake.key(), staged))
    assert rows(lake) == [{"a": 0}, {"a": 1}, {"a": 2}, {"a": 3}]


def test_a_stale_driver_commits_nothing(lake: GlueLake) -> None:
    staged = lake.stage(numbered([{"a": 1}]))
    zombie, newer = lake.committer(1), lake.committer(2)
    with pytest.raises(StaleEpochError):
        zombie.commit(lake.key(), staged)
    assert newer.read_marker(lake.key()) is None


def test_another_writer_between_look_and_commit_loses_nothing(lake: GlueLake, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is quicker between the sink's look at the table and its change: only Glue can notice."""
    lake.run(numbered([{"a": 1}]))
    name = lake.config["iceberg.tables"]
    straight, others = GlueCatalog._update_glue_table, [10, 11]

    def crowded(self: GlueCatalog, database_name: str, table_name: str, *given: Any, **named: Any) -> None:
        if others and table_name == "orders":
            value = others.pop()
            lake.table(name).append(pa.table({"a": pa.array([value], pa.int64())}))
        straight(self, database_name, table_name, *given, **named)

    monkeypatch.setattr(GlueCatalog, "_update_glue_table", crowded)
    lake.run(numbered([{"a": 2}], first=1), sequence=2)
    assert rows(lake) == [{"a": 1}, {"a": 2}, {"a": 10}, {"a": 11}]
