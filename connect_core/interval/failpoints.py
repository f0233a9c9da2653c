"""The kill points of an interval, K0 to K10, where a test may kill or delay a process; off unless armed.

A process is armed by ``CONNECT_TESTING=1`` and ``CONNECT_FAIL_POINTS``, the path
of a file with ``<point> <connector> <act>``. The first process of that connector
to reach the point renames the file and acts: ``kill`` (SIGKILL to itself),
``raise`` (RetriableError), or the number of seconds to sleep.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from connect_core.errors import RetriableError
from connect_core.interval import effects as fx

__all__ = ["FAIL_POINTS", "FILE", "POINT_OF", "TESTING", "pass_effect", "reach"]

TESTING, FILE = "CONNECT_TESTING", "CONNECT_FAIL_POINTS"
"""The environment variables that arm a process."""

FAIL_POINTS: Mapping[str, str] = MappingProxyType(
    {
        "K0": "before a planning step",
        "K1": "before the interval's row is written",
        "K2": "before the job is given to Spark",
        "K3": "before a task does anything",
        "K4": "when a task has written its first records",
        "K5": "before a task stages, or a driver records what tasks did",
        "K6": "before the commit in the target",
        "K7": "before the metadata database follows",
        "K8": "before files are published, or a consumer group is told",
        "K9": "before the connector is given back",
        "K10": "before a run takes the connector",
    }
)
"""Point → its place in an interval."""

POINT_OF: Mapping[type[fx.Effect[Any]], str] = MappingProxyType(
    {
        fx.TakeLease: "K10",
        fx.InsertInterval: "K1",
        fx.RestartInterval: "K1",
        fx.RecordAttempt: "K5",
        fx.CommitTarget: "K6",
        fx.ReplaceTarget: "K6",
        fx.AbandonTarget: "K6",
        fx.WriteOffsets: "K6",
        fx.CommitInterval: "K7",
        fx.AbandonInterval: "K7",
        fx.FinishIntent: "K7",
        fx.PublishTarget: "K8",
        fx.CommitGroupOffsets: "K8",
        fx.ForgetGroup: "K8",
        fx.ReleaseLease: "K9",
    }
)
"""Effect → the point before it; all others: K0. K2 is before a job; K3, K4 and parts of K5 and K6 are in tasks."""


def reach(point: str, connector: str) -> None:
    """Perform what a test has armed for this point of this connector, once. Raise RetriableError."""
    armed = os.environ.get(FILE)
    if armed is None or os.environ.get(TESTING) != "1":
        return
    act = _taken(Path(armed), point, connector)
    if act == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif act == "raise":
        raise RetriableError(f"a test makes {connector} fail at {point}")
    elif act:
        time.sleep(float(act))


def pass_effect(effect: fx.Effect[Any]) -> None:
    """Reach the point before an effect that names its connector. Raise RetriableError."""
    if FILE in os.environ:
        reach(POINT_OF.get(type(effect), "K0"), _connector_of(effect))


def _taken(file: Path, point: str, connector: str) -> str | None:
    """Return the armed act, if it is for this point; renaming the file keeps other processes from performing it."""
    try:
        wanted, name, act = file.read_text().split()
        if (wanted, name) != (point, connector):
            return None
        file.rename(file.with_name(f"{file.name}-{point}-{os.getpid()}"))
    except (FileNotFoundError, ValueError):
        return None
    return act


def _connector_of(effect: fx.Effect[Any]) -> str:
    group: str | None = getattr(effect, "group", None)
    if group is not None:
        return group.removeprefix("connect-")
    row = getattr(effect, "row", effect)
    key = getattr(row, "key", row)
    return str(getattr(key, "connector", ""))
