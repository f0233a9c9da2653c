"""A stand-in for the loop of a run: moves counters instead of records."""

import fcntl
import os
import time
from collections.abc import Callable
from dataclasses import asdict

from stub_world import facts, note, path, say

from connect_core.errors import ConnectError, RetriableError
from connect_core.interval.runs import RunOutcome, RunRequest, RunStatus


def run_connector(request: RunRequest, on_job: Callable[[str], None] = lambda url: None) -> RunOutcome:
    """Behave as the connector's facts say."""
    note(request.connector, "run", **{**asdict(request), "bound_time": str(request.bound_time), "pid": os.getpid()})
    with path(request.connector, "lock").open("w") as lease:
        try:
            fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note(request.connector, "end", status="skipped", records=0)
            return RunOutcome(RunStatus.SKIPPED, reason="another run holds the connector")
        outcome = _work(request, on_job)
    note(request.connector, "end", status=outcome.status.value, records=outcome.records)
    return outcome


def _work(request: RunRequest, on_job: Callable[[str], None]) -> RunOutcome:
    now = facts(request.connector)
    if now.get("crashes"):
        raise ZeroDivisionError("a bug")
    if now.get("failed") and not request.asked:
        return RunOutcome(RunStatus.FAILED, reason=now["failed"])
    if now.get("retriable", 0) > 0:
        say(request.connector, retriable=now["retriable"] - 1)
        if request.last_try:
            say(request.connector, waits_until=time.time() + now.get("restart_seconds", 600))
        raise RetriableError("the broker does not answer")
    if now.get("fatal"):
        say(request.connector, failed=now["fatal"], fatal=None)
        raise ConnectError(now["fatal"])
    return _move(request, on_job)


def _move(request: RunRequest, on_job: Callable[[str], None]) -> RunOutcome:
    records = facts(request.connector).get("records", 0)
    if not records:
        return RunOutcome(RunStatus.IDLE, wait=request.continuous)
    on_job(f"http://127.0.0.1:4040/jobs/?tag={request.connector}")
    ends = time.monotonic() + facts(request.connector).get("seconds", 0.0)
    while time.monotonic() < ends:
        if facts(request.connector).get("interrupted"):
            return RunOutcome(RunStatus.STOPPED, reason="interrupted")
        time.sleep(0.05)
    say(request.connector, records=0, moved=facts(request.connector).get("moved", 0) + records)
    return RunOutcome(RunStatus.DRAINED, intervals=1, records=records, outlets=("kafka://cluster/found",))


def interrupt(connector: str) -> None:
    """End the connector's run."""
    say(connector, interrupted=True)
    note(connector, "interrupt")
