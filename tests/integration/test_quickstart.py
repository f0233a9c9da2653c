"""``connect quickstart`` in a new folder: everything starts, live data moves, everything ends."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from connect_core.dev.processes import marked

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

CONNECT = Path(sys.executable).with_name("connect")
CONNECTORS = ("broker-log", "parquet-export", "text-export", "shop-orders", "shop-copies", "shop-parquet")
CHECKOUT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A project as a fresh clone has it: no state yet."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("config", "dags", "plugins"):
        (folder / name).symlink_to(CHECKOUT / name)
    yield folder
    connect(folder, "dev", "down")


def connect(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command as somebody in that folder would, with no setting of this process's stacks."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("CONNECT_", "AIRFLOW"))}
    environment |= {"COLUMNS": "160", **{name: os.environ[name] for name in ("CONNECT_CACHE",) if name in os.environ}}
    return subprocess.run(
        [CONNECT, *arguments], cwd=project, env=environment, capture_output=True, text=True, timeout=500, check=False
    )


def test_quickstart_moves_live_data_and_down_leaves_nothing(project: Path) -> None:
    """With a registry; tests/packaging starts it from a wheel."""
    done = connect(project, "quickstart", "--registry")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    check_files(done.stdout)
    check_shop(done.stdout)
    check_registry(done.stdout)
    check_hours(project, done.stdout)
    assert "Airflow       http://127.0.0.1:" in done.stdout
    assert connect(project, "dev", "down").returncode == 0
    assert marked(project / ".connect") == set()


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


def check_hours(project: Path, told: str) -> None:
    """Check that past hours were exported, and that the line which counts them works as it is printed."""
    assert re.search(r"visits-hourly: 3 past hours from \d\d:00 UTC, 180 rows, exported by Airflow's backfill", told)
    line = re.search(r"^\S*python\S* -c 'import duckdb; .*$", told, re.MULTILINE)
    assert line is not None, told[-3000:]
    counted = subprocess.run(line[0], shell=True, cwd=project, capture_output=True, text=True, timeout=60, check=True)
    assert len(re.findall(r"│ +\d+ │ +\d+ +│ +60 │ +23 │", counted.stdout)) == 3
    assert counted.stdout.rstrip() in told


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
