"""An SQL catalog on a real PostgreSQL: its races, and whose login it uses."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import URL, make_url

from connect_core.connectors.iceberg.catalog import open_catalog
from connect_core.connectors.iceberg.config import Settings
from connect_core.dev.stack import Stack
from connect_core.errors import RetriableError
from tests.connectors.contexts import limits_of
from tests.connectors.iceberg.lake import CONFIG, Lake, numbered

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[URL]:
    stack = Stack(tmp_path_factory.mktemp("stack"), services=("postgres",))
    stack.up()
    try:
        yield make_url(stack.environment()["CONNECT_DATABASE_URL"])
    finally:
        stack.down()


def catalog_of(url: URL) -> dict[str, str]:
    bare = url.set(drivername="postgresql", username=None, password=None)
    return {
        "iceberg.catalog.uri": f"jdbc:{bare.render_as_string()}",
        "iceberg.catalog.jdbc.user": str(url.username),
        "iceberg.catalog.jdbc.password": str(url.password),
    }


def test_tasks_that_begin_together_find_one_table(server: URL, tmp_path: Path) -> None:
    def stage(task: int) -> Any:
        lake = Lake(tmp_path)
        lake.set(catalog_of(server))
        return lake.stage(numbered([{"a": task}], partition=task))

    with ThreadPoolExecutor(4) as threads:
        staged = [part for parts in threads.map(stage, range(4)) for part in parts]
    lake = Lake(tmp_path)
    lake.set(catalog_of(server))
    committer = lake.committer()
    committer.publish(lake.key(), committer.commit(lake.key(), staged))
    catalog = open_catalog(Settings.of(lake.config), limits_of(tmp_path))
    rows = catalog.load_table("db.orders").scan().to_arrow().to_pylist()
    assert sorted(row["a"] for row in rows) == [0, 1, 2, 3]


@pytest.mark.parametrize("way", ["password", "file"])
def test_the_workers_login_is_not_a_connectors(
    server: URL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    (tmp_path / "passwords").write_text(f"*:*:*:*:{server.password}\n")
    (tmp_path / "passwords").chmod(0o600)
    login = {"password": {"PGPASSWORD": str(server.password)}, "file": {"PGPASSFILE": str(tmp_path / "passwords")}}
    for name, value in {**login[way], "PGUSER": str(server.username)}.items():
        monkeypatch.setenv(name, value)
    given = {**CONFIG, **catalog_of(server)}
    open_catalog(Settings.of(given), limits_of(tmp_path))
    del given["iceberg.catalog.jdbc.password"]
    with pytest.raises(RetriableError, match="password"):
        open_catalog(Settings.of(given), limits_of(tmp_path))
