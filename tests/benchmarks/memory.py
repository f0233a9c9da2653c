"""The peak of memory while something runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

__all__ = ["Memory"]

_SAMPLE_SECONDS = 0.5


@dataclass
class Memory:
    """The largest resident memory seen of a process and its children, in bytes."""

    pid: int
    peak: int = 0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Sample while the block runs."""
        done = threading.Event()
        thread = threading.Thread(target=self._sample, args=(done,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _sample(self, done: threading.Event) -> None:
        while not done.wait(_SAMPLE_SECONDS):
            try:
                root = psutil.Process(self.pid)
                sizes = [one.memory_info().rss for one in (root, *root.children(recursive=True))]
            except psutil.NoSuchProcess:
                continue
            self.peak = max(self.peak, sum(sizes))
