"""What the machine lacks for a moment is no fault that a person must mend."""

from __future__ import annotations

import errno
import subprocess
import sys

import pyarrow as pa
import pytest

from connect_core.errors import ConnectError, DataError
from connect_core.run.shortage import is_shortage


def chained(cause: BaseException) -> ConnectError:
    error = ConnectError("the task raised it")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [MemoryError(), pa.ArrowMemoryError("malloc failed"), OSError(errno.ENOMEM, "x"), OSError(errno.EMFILE, "x")],
)
def test_shortage_is_known_also_as_a_cause(error: BaseException) -> None:
    assert is_shortage(error)
    assert is_shortage(chained(chained(error)))


@pytest.mark.parametrize("error", [DataError("bad"), RuntimeError("x"), FileNotFoundError(errno.ENOENT, "x")])
def test_other_errors_are_none(error: BaseException) -> None:
    assert not is_shortage(error)
    assert not is_shortage(chained(error))


_THREAD = """
import os, resource, threading
from connect_core.run.shortage import is_shortage

resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))
try:
    threading.Thread(target=int).start()
except RuntimeError as error:
    os._exit(0 if is_shortage(error) else 1)
os._exit(2)
"""


def test_a_thread_that_cannot_start_is_one() -> None:
    """In Python's own words, whatever version runs."""
    assert subprocess.run([sys.executable, "-c", _THREAD], check=False, timeout=60).returncode == 0
