"""What the machine lacks for a moment is no fault that a person must fix."""

from __future__ import annotations

import errno

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
    [
        MemoryError(),
        pa.ArrowMemoryError("malloc failed"),
        OSError(errno.ENOMEM, "x"),
        OSError(errno.EMFILE, "x"),
        OSError(errno.ENOSPC, "x"),
        OSError(errno.EDQUOT, "x"),
        # As threading says it.
        RuntimeError("can't start new thread"),
    ],
)
def test_shortage_is_known_also_as_a_cause(error: BaseException) -> None:
    assert is_shortage(error)
    assert is_shortage(chained(chained(error)))


@pytest.mark.parametrize("error", [DataError("bad"), RuntimeError("x"), FileNotFoundError(errno.ENOENT, "x")])
def test_other_errors_are_none(error: BaseException) -> None:
    assert not is_shortage(error)
    assert not is_shortage(chained(error))
