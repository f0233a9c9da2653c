"""How many requests may wait for other clusters at once: threads of the API are few, and shared with Airflow's."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from connect_core.errors import RetriableError

__all__ = ["ClusterCalls"]

_MOST = 4


class ClusterCalls:
    """Places for requests that call a Kafka Connect cluster; one more is refused, not queued."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._places = threading.BoundedSemaphore(most)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Take a place for a block. Raise RetriableError if there is none."""
        if not self._places.acquire(blocking=False):
            raise RetriableError(
                f"{self._most} requests are calling Kafka Connect clusters now, which is the limit: try "
                "again in a few seconds"
            )
        try:
            yield
        finally:
            self._places.release()
