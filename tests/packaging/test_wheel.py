"""An installed wheel is enough: the quickstart runs in an empty folder, with nothing of the clone.

Everything starts, live data moves, everything ends.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from connect_core.dev.processes import marked
from tests.packaging.environments import ROOT, build_wheel, create, run

pytestmark = [pytest.mark.servers, pytest.mark.timeout(1200)]

CONNECTORS = ("broker-log", "parquet-export", "text-export", "shop-orders", "shop-copies", "shop-parquet")


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The commands of an environment with the wheel and its embedded stack; gigabytes, so not kept."""
    folder = tmp_path_factory.mktemp("wheel")
    yield create(folder, build_wheel(folder), "[dev-stack]", "--constraints", ROOT / "config" / "constraints.txt")
    shutil.rmtree(folder)


@pytest.fixture
def empty(commands: Path, tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "empty"
    folder.mkdir()
    yield folder
    run(folder, commands / "connect", "dev", "down")


def test_quickstart_runs_without_the_clone(commands: Path, empty: Path) -> None:
    place = run(empty, commands / "python", "-c", "import connect_core; print(connect_core.__file__)")
    assert Path(place).is_relative_to(commands.parent)
    told = run(empty, commands / "connect", "quickstart", "--registry")
    check_files(told)
    check_shop(told)
    check_registry(told)
    assert "Airflow       http://127.0.0.1:" in told
    assert "Done in" in told
    checked = run(empty, commands / "connect", "doctor")
    assert "with the Connect plugin" in checked, checked
    assert [one.name for one in empty.iterdir()] == [".connect"]
    assert str(ROOT) not in (empty / ".connect" / "env").read_text()
    run(empty, commands / "connect", "dev", "down")
    assert marked(empty / ".connect") == set()


def check_files(told: str) -> None:
    """Check that each connector had intervals, and that topic, Parquet and text files hold as many records."""
    for connector in CONNECTORS:
        found = re.search(rf"{connector} · (\d+) intervals with records, each from where the one before ended", told)
        assert found is not None, told[-3000:]
        assert int(found[1]) >= 2
    counts = re.search(
        r"Kafka, read_committed: (\d+) records in 4 partitions.*?"
        r"Parquet: (\d+) rows in \d+ files; text file: (\d+) lines",
        told,
        re.DOTALL,
    )
    assert counts is not None, told[-3000:]
    assert int(counts[1]) > 0
    assert len(set(counts.groups())) == 1


def check_registry(told: str) -> None:
    """Check that the orders travel with a schema."""
    registry = re.search(r"^Registry +(http://\S+)$", told, re.MULTILINE)
    assert registry is not None, told[-3000:]
    assert "shop-avro-orders-value" in httpx.get(f"{registry[1]}/subjects").json()


def check_shop(told: str) -> None:
    """Check that changed orders went to both places, and what the tables themselves have."""
    counts = re.search(
        r"Shop: (\d+) orders, order_copies: (\d+) rows; (\d+) versions of orders in Kafka, (\d+) in Parquet", told
    )
    assert counts is not None, told[-3000:]
    orders, copies, versions, rows = map(int, counts.groups())
    assert orders == copies >= 4
    assert versions == rows >= 5, "three orders at first, one inserted, one updated"
    changed = r"order \d+ inserted and order 1 updated: in order_copies after [\d.]+ s, in Parquet after [\d.]+ s"
    assert re.search(changed, told) is not None, told[-3000:]
    address = re.search(r"^Shop +(postgresql://\S+)$", told, re.MULTILINE)
    assert address is not None, told[-3000:]
    with psycopg.connect(address[1]) as client:
        query = "SELECT id, customer, amount FROM {} ORDER BY id"
        assert (
            client.execute(query.format("order_copies")).fetchall() == client.execute(query.format("orders")).fetchall()
        )
