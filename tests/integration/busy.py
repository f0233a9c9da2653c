"""Five connectors that always have something to do: a line tells when it was written, its reader when it came."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

_LOOK_SECONDS = 0.1
_LINE_SECONDS = 0.5
SINKS = (0, 1, 0)
"""Of which of the two sources each sink takes the lines."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from the writing of a line until it stands in a sink's file, for the lines of some time."""

    lines: int
    median: float
    worst: float


@dataclass(slots=True)
class Busy:
    """Two files that grow, and the three files their lines go to."""

    folder: Path
    written: list[list[str]] = field(default_factory=lambda: [[], []])
    _seen: list[int] = field(default_factory=lambda: [0] * len(SINKS))
    _arrived: list[tuple[float, float]] = field(default_factory=list)
    _is_full: threading.Event = field(default_factory=threading.Event)
    _is_over: threading.Event = field(default_factory=threading.Event)

    def configs(self) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Yield the connectors."""
        for number in range(2):
            source = {"connector.class": "FileStreamSource", "file": str(self._source(number))}
            yield f"busy-source-{number}", {**source, "topic": f"busy-{number}"}
        for number, of in enumerate(SINKS):
            sink = {"connector.class": "FileStreamSink", "file": str(self._sink(number)), "topics": f"busy-{of}"}
            yield f"busy-sink-{number}", sink

    @contextmanager
    def going(self) -> Iterator[None]:
        """Write lines, and see them come, until the block ends."""
        threads = [threading.Thread(target=one, daemon=True) for one in (self._write, self._look)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._is_full.set()
            self._is_over.set()
            for thread in threads:
                thread.join()

    def stop_writing(self) -> None:
        """Let the lines that are written be the last."""
        self._is_full.set()

    def is_complete(self) -> bool:
        """Return whether every line has been seen in every file it goes to; what else is there does not matter."""
        return all(seen >= len(self.written[of]) for seen, of in zip(self._seen, SINKS, strict=True))

    def latency(self, begin: float, end: float) -> Latency:
        """Return that of the lines written between two times (``time.time()``), all of which have come."""
        waits = [came - at for at, came in self._arrived if begin <= at < end]
        return Latency(len(waits), statistics.median(waits), max(waits))

    def arrived(self) -> list[list[str]]:
        """Return the lines of each sink's file."""
        return [_lines(self._sink(number)) for number in range(len(SINKS))]

    def expected(self) -> list[list[str]]:
        """Return the lines that each sink's file is to have."""
        return [list(self.written[of]) for of in SINKS]

    def _write(self) -> None:
        while not self._is_full.wait(_LINE_SECONDS):
            for number, written in enumerate(self.written):
                line = f"{len(written)} {time.time():.3f}"
                with self._source(number).open("a") as file:
                    file.write(f"{line}\n")
                written.append(line)

    def _look(self) -> None:
        while not self._is_over.wait(_LOOK_SECONDS):
            for number in range(len(SINKS)):
                lines, came = _lines(self._sink(number)), time.time()
                self._arrived += [(float(line.split()[1]), came) for line in lines[self._seen[number] :]]
                self._seen[number] = len(lines)

    def _source(self, number: int) -> Path:
        return self.folder / f"busy-source-{number}.txt"

    def _sink(self, number: int) -> Path:
        return self.folder / f"busy-sink-{number}.txt"


def _lines(file: Path) -> list[str]:
    """Return the whole lines."""
    return file.read_text().split("\n")[:-1] if file.exists() else []
