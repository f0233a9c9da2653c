"""The process that drives one connector's runs, one after the other, as a scheduler with retries would."""

from __future__ import annotations

import os
import sys
import time

from connect_core.errors import ConnectError
from connect_core.interval.runs import RunRequest
from connect_core.spark.run import run_connector

_PAUSE_SECONDS = 0.3


def drive(connector: str) -> None:
    """Run the connector until this process is ended."""
    number = 0
    while True:
        number += 1
        try:
            outcome = run_connector(RunRequest(connector, f"run-{os.getpid()}-{number}", asked=True))
            if outcome.intervals:
                print(f"{connector} {outcome.status.value}: {outcome.records} records", flush=True)
        except ConnectError as error:
            print(f"{connector} {type(error).__name__}: {error}", flush=True)
        time.sleep(_PAUSE_SECONDS)


if __name__ == "__main__":
    drive(sys.argv[1])
