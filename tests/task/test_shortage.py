"""What of an error is the machine's trouble, which passes."""

from __future__ import annotations

import errno

import pytest

from connect_core.errors import ConnectError
from connect_core.task.shortage import is_shortage


def raised_from(cause: Exception | None) -> ConnectError:
    error = ConnectError("x.parquet cannot be written")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "cause",
    [
        MemoryError(),
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EFBIG, "File too large"),
        OSError(errno.EIO, "Input/output error"),
        RuntimeError("can't start new thread"),
    ],
    ids=repr,
)
def test_trouble_of_the_machine_is_seen_behind_what_a_connector_made_of_it(cause: Exception) -> None:
    assert is_shortage(raised_from(cause))


@pytest.mark.parametrize(
    "cause", [PermissionError(errno.EACCES, "Permission denied"), ValueError("no"), None], ids=repr
)
def test_other_errors_wait_for_a_person(cause: Exception | None) -> None:
    assert not is_shortage(raised_from(cause))
