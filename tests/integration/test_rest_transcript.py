"""Every step of the real worker's transcript against ``connect standalone``, with records that move."""

from __future__ import annotations

import time
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import pytest

from tests.integration.test_standalone import standalone, write_worker
from tests.rest.replaying import assert_replayed

pytestmark = pytest.mark.servers


def address_of(worker: Path) -> str:
    lines = dict(line.split("=", 1) for line in worker.read_text().splitlines() if line)
    return lines["listeners"]


def await_answer(base: str) -> None:
    deadline = time.monotonic() + 120
    while True:
        connection = HTTPConnection(base.removeprefix("http://"), timeout=5)
        try:
            connection.request("GET", "/")
            assert connection.getresponse().status == 200
            return
        except (OSError, HTTPException):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        finally:
            connection.close()


@pytest.mark.matrix
@pytest.mark.timeout(900)
def test_standalone_answers_as_the_real_worker(folder: Path, bootstrap: str) -> None:
    worker = write_worker(folder, bootstrap)
    with standalone(folder, worker):
        base = address_of(worker)
        await_answer(base)
        assert_replayed(base, folder / "data")
