"""A process may die at any request: the next one ends what it began, and readers see whole objects only."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow.parquet as pq
import pytest

from connect_core.api import SinkRecord
from connect_core.connectors.filesystem.sink.connector import FileSystemSinkConnector
from connect_core.connectors.filesystem.storages.s3 import bucket, staging
from connect_core.testing.sink_engine import SinkEngine
from tests.connectors.filesystem.storages.s3.servers import S3Server
from tests.full_run import IS_FULL_RUN

ROWS = 300
CALLS = 100
"""More requests than an interval takes here."""


class Killed(BaseException):
    """The process is gone: nothing handles this."""


@dataclass
class Killer:
    """Ends the process at one of its requests, before or after the store has done it; looks around after changes."""

    sent: Callable[..., Any]
    look: Callable[[], None]
    at: int = -1
    is_late: bool = False
    seen: int = 0
    kinds: list[str] = field(default_factory=list)

    def __call__(self, settings: object, what: str, place: str, request: Callable[[], Any], *more: Any) -> Any:
        is_last, self.seen = self.seen == self.at, self.seen + 1
        if self.at >= 0 and self.seen - 1 > self.at:
            raise Killed
        if is_last and not self.is_late:
            raise Killed
        answer = self.sent(settings, what, place, request, *more)
        if what not in ("cannot be read", "cannot be listed", "cannot be inspected"):
            self.look()
        if is_last:
            raise Killed
        return answer


def records() -> list[SinkRecord]:
    return [
        SinkRecord("t", partition, value={"n": number, "text": f"{number:0100d}"}, kafka_offset=number)
        for partition in range(2)
        for number in range(ROWS if partition else 3)
    ]


def rows(server: S3Server) -> list[tuple[str, int]]:
    """Return what a listing reader reads; an object that is not whole is not a Parquet file."""
    found = []
    for name in server.listed():
        if name.endswith(".parquet"):
            table = pq.read_table(io.BytesIO(server.content(f"lake/{name}")))
            found += [(name.split("/")[1], row["n"]) for row in table.to_pylist()]
    return found


WANTED = sorted(
    (f"partition={partition}", number) for partition in range(2) for number in range(ROWS if partition else 3)
)


@pytest.mark.slow
@pytest.mark.parametrize("is_late", [False, True], ids=["before", "after"])
def test_target_equals_topic_whichever_request_is_the_last(
    moto_url: str, monkeypatch: pytest.MonkeyPatch, is_late: bool
) -> None:
    """An interval dies at its n-th request; then another process ends it, and sweeps.

    For each n, in ``make test`` for each sixth, others before than after.
    """
    monkeypatch.setattr(staging, "SMALL", 2000)
    died, step = 0, 1 if IS_FULL_RUN else 6
    for at in range(is_late * 3 % step, CALLS, step):
        server = S3Server(moto_url)
        engine = SinkEngine(FileSystemSinkConnector, {**server.config(), "parquet.codec": "none"}, name="copy")
        # The topic's columns are known: a file of them is held back as an upload.
        engine.columns = {"t": {"n": "int64", "text": "string"}}
        killer = Killer(vars(bucket)["sent"], partial(seen_whole, server), at, is_late)
        with monkeypatch.context() as patched:
            patched.setattr(bucket, "sent", killer)
            try:
                engine.run(records())
            except Killed:
                died += 1
        finish(engine)
        assert sorted(rows(server)) == WANTED, f"killed at request {at}"
        staged = [key for key in server.objects() if "/+tmp/" in key]
        assert (staged, server.uploads()) == ([], []), f"killed at request {at}"
        if killer.seen <= at:
            break
    assert 15 < at < CALLS, "it came to its end, by as many requests as it takes"
    assert died == at // step, "it died at each of them, and then not at all"


def seen_whole(server: S3Server) -> None:
    found = sorted(rows(server))
    assert not found or set(found) <= set(WANTED)
    assert len(found) in (0, 3, ROWS, ROWS + 3), "a file is seen whole or not at all, and once"


def finish(engine: SinkEngine) -> None:
    """Do what the next driver does: end the interval if it was committed, else run it again; then sweep."""
    committer = engine.committer(2)
    assert committer is not None
    marker = committer.read_marker(engine.key())
    if marker is None:
        key = engine.key(epoch=2)
        marker = committer.commit(key, engine.attempt(records(), key).staged)
    committer.publish(engine.key(epoch=2), marker)
    committer.sweep([])
    committer.close()


@pytest.mark.slow
def test_sweeping_may_die_anywhere(moto: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Housekeeping that was cut off is done by the next one; in ``make test`` at each third request."""
    monkeypatch.setattr(staging, "SMALL", 2000)
    for at in range(0, CALLS, 1 if IS_FULL_RUN else 3):
        server = S3Server(moto.url)
        engine = SinkEngine(FileSystemSinkConnector, {**server.config(), "parquet.codec": "none"}, name="copy")
        engine.columns = {"t": {"n": "int64", "text": "string"}}
        for _ in range(2):
            engine.attempt(records())
        committer = engine.committer()
        assert committer is not None
        committer.abandon(engine.key(), None)
        assert server.uploads()
        killer = Killer(vars(bucket)["sent"], lambda: None, at)
        with monkeypatch.context() as patched:
            patched.setattr(bucket, "sent", killer)
            with suppress(Killed):
                committer.sweep([])
        committer.sweep([])
        assert ([key for key in server.objects() if "/+tmp/" in key], server.uploads()) == ([], [])
        if killer.seen <= at:
            return
    raise AssertionError("it never came to its end")
