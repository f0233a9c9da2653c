"""Which step of a case failed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from connect_core.errors import ConnectError

__all__ = ["FailedStep", "step"]


class FailedStep(Exception):
    """Carries an error of the code under test and the step it came from."""

    def __init__(self, stage: str, error: ConnectError) -> None:
        super().__init__(f"{stage}: {type(error).__name__}: {error}")
        self.stage = stage
        self.error = error


@contextmanager
def step(stage: str) -> Iterator[None]:
    """Name the step that an error of connect-core comes from."""
    try:
        yield
    except ConnectError as error:
        raise FailedStep(stage, error) from error
