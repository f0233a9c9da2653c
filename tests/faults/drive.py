"""The process that drives one connector's runs, one after the other, as Airflow's scheduler with its retries would.

A run is tried again as often as ``schedule.retries`` says by default; after that the next run begins, and nobody
asks for it: a connector that only a person's restart would move stands still.
"""

from __future__ import annotations

import logging
import os
import sys
import time
import traceback
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from itertools import count

import time_machine

from connect_core.errors import ConnectError
from connect_core.interval.runs import RunRequest, RunStatus
from connect_core.spark.remote import run_connector

_PAUSE_SECONDS = 0.3
_RETRIES = 3


def drive(connector: str) -> None:
    """Run the connector until this process is ended."""
    for number in count(1):
        for attempt in range(_RETRIES + 1):
            run_id = f"run-{os.getpid()}-{number}"
            request = RunRequest(connector, run_id, asked=attempt > 0, last_try=attempt == _RETRIES)
            is_over = _tried(request)
            time.sleep(_PAUSE_SECONDS)
            if is_over:
                break


def _tried(request: RunRequest) -> bool:
    """Run once → whether the run has come to an end, so that it is not tried again."""
    try:
        outcome = run_connector(request)
    except ConnectError as error:
        _say(request.connector, f"{type(error).__name__}: {error}")
        return False
    except Exception:
        # Whatever ends a task, Airflow tries it again.
        _say(request.connector, traceback.format_exc())
        return False
    if outcome.status is not RunStatus.IDLE:
        _say(request.connector, f"{outcome.status.value}: {outcome.records} records {outcome.reason}")
    return True


def _say(connector: str, what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {os.getpid()} {connector} {what}", flush=True)


if __name__ == "__main__":
    logging.getLogger("connect_core.settings").setLevel(logging.ERROR)
    logging.getLogger("connect_core.configs").setLevel(logging.ERROR)
    offset = timedelta(seconds=float(os.environ.get("FAULTS_CLOCK_SECONDS", "0")))
    # Only where the clock is to jump: it replaces what Python's callers of the clock see.
    with time_machine.travel(datetime.now(UTC) + offset) if offset else nullcontext():
        drive(sys.argv[1])
