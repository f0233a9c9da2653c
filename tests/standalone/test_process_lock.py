"""Two standalone processes on one store: the second refuses, or waits, by a clear line."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from connect_core.errors import ConfigError
from connect_core.interval.effects import TakeLease
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.settings import WorkerMode, WorkerSettings
from connect_core.standalone import loop as loops
from connect_core.standalone import worker
from connect_core.standalone.loop import ConnectorLoop
from connect_core.standalone.process_lock import ProcessLock
from connect_core.standalone.session import ProcessSession
from connect_core.store import Database, connectors, leases, migrate
from connect_core.store.connectors import NewConfig

pytestmark = pytest.mark.slow

_HOLD = """
import sys
from pathlib import Path
from connect_core.standalone.process_lock import ProcessLock
from connect_core.standalone.session import ProcessSession
lock = ProcessLock.take(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def settings(folder: Path) -> WorkerSettings:
    properties = {
        "bootstrap.servers": "127.0.0.1:9",
        "key.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "offset.storage.file.filename": str(folder / "connect.offsets"),
    }
    return WorkerSettings.from_properties(properties, {}, WorkerMode.STANDALONE)


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what opens a standalone worker over a store with one connector; no broker is needed."""
    monkeypatch.setattr(worker, "create_internal_topics", lambda settings: None)
    migrate(settings(tmp_path).database_url)
    with Database(settings(tmp_path).database_url).write() as connection:
        connectors.create(connection, "copy", NewConfig(ConnectorType.SINK, {"topics": "t"}), TargetState.STARTED)
    return lambda: worker.open_standalone(settings(tmp_path), ProcessSession())


def test_second_process_on_one_file_is_refused_by_name(opened: Any, tmp_path: Path) -> None:
    place = settings(tmp_path).standalone_database
    with subprocess.Popen([sys.executable, "-c", _HOLD, str(place)], stdin=-1, stdout=-1, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(ConfigError, match=rf"connect.offsets .*another standalone worker \(process {other.pid}\)"):
            opened()
        other.kill()
    first = opened()
    with pytest.raises(ConfigError, match="another standalone worker"):
        ProcessLock.take(place)
    first.stop(1)
    opened().stop(1)


def test_lease_of_a_dead_process_is_given_back_at_once(opened: Any, tmp_path: Path) -> None:
    database = Database(settings(tmp_path).database_url)
    with database.write() as connection:
        assert leases.take(connection, TakeLease("copy", "standalone-dead h a", 60))
    opened().stop(1)
    with database.write() as connection:
        assert leases.take(connection, TakeLease("copy", "standalone-next h a", 60))


def test_processes_of_standalone_are_different_runs(opened: Any) -> None:
    runs = []
    for _ in range(2):
        one = opened()
        runs.append(one.scheduler.make_loop("copy").worker.identity.run_id)
        one.stop(1)
    assert len(set(runs)) == 2
    assert all(run.startswith("standalone-") for run in runs)


@pytest.mark.parametrize("names", [("standalone-1", "standalone-2"), ("standalone", "standalone")])
def test_neither_takes_the_others_lease(tmp_path: Path, names: tuple[str, str]) -> None:
    url = settings(tmp_path).database_url
    migrate(url)
    database = Database(url)
    with database.write() as connection:
        connectors.create(connection, "copy", NewConfig(ConnectorType.SINK, {"topics": "t"}), TargetState.STARTED)

    def take(holder: str) -> bool:
        with database.write() as connection:
            return leases.take(connection, TakeLease("copy", holder, 60)) is not None

    assert [take(f"{names[0]} h a"), take(f"{names[1]} h b"), take(f"{names[0]} h a")] == [True, False, True]


def test_waiting_for_another_process_is_said_once(
    opened: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = opened()
    loop: ConnectorLoop = one.scheduler.make_loop("copy")
    tries, tell = threading.Semaphore(0), ConnectorLoop._tell_holder
    monkeypatch.setattr(loops, "_PROBE_SECONDS", 0.02)

    def tell_and_count(*of: Any) -> None:
        tell(*of)
        tries.release()

    monkeypatch.setattr(ConnectorLoop, "_tell_holder", tell_and_count)
    with one.database.write() as connection:
        leases.take(connection, TakeLease("copy", "standalone-other h a", 60))
    with caplog.at_level(logging.WARNING):
        loop.start()
        assert all(tries.acquire(timeout=20) for _ in range(4))
        loop.ask_to_stop()
        assert loop.join(20)
    said = [record.getMessage() for record in caplog.records if "held by another process" in record.getMessage()]
    assert len(said) == 1
    one.stop(1)
