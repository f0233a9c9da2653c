"""The process that drives one connector's runs, one after the other, as a scheduler with retries would."""

from __future__ import annotations

import logging
import os
import sys
import time
import traceback
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta

import time_machine

from connect_core.errors import ConnectError
from connect_core.interval.runs import RunRequest, RunStatus
from connect_core.spark.run import run_connector

_PAUSE_SECONDS = 0.3


def drive(connector: str) -> None:
    """Run the connector until this process is ended."""
    number = 0
    while True:
        number += 1
        try:
            outcome = run_connector(RunRequest(connector, f"run-{os.getpid()}-{number}", asked=True))
            if outcome.status is not RunStatus.IDLE:
                _say(connector, f"{outcome.status.value}: {outcome.records} records {outcome.reason}")
        except ConnectError as error:
            _say(connector, f"{type(error).__name__}: {error}")
        except Exception:
            # Whatever ends a task, Airflow tries it again.
            _say(connector, traceback.format_exc())
        time.sleep(_PAUSE_SECONDS)


def _say(connector: str, what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {os.getpid()} {connector} {what}", flush=True)


if __name__ == "__main__":
    logging.getLogger("connect_core.settings").setLevel(logging.ERROR)
    logging.getLogger("connect_core.configs").setLevel(logging.ERROR)
    offset = timedelta(seconds=float(os.environ.get("FAULTS_CLOCK_SECONDS", "0")))
    # Only where the clock is to jump: it replaces what Python's callers of the clock see.
    with time_machine.travel(datetime.now(UTC) + offset) if offset else nullcontext():
        drive(sys.argv[1])
