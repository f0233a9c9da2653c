"""The task of FileStreamSource: lines as records or as columns."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from connect_core.api.batch import Batch, Columns, SourcePositions
from connect_core.api.config import AbstractConfig
from connect_core.api.data import STRING_SCHEMA
from connect_core.api.offsets import canonical
from connect_core.api.records import SourceRecord
from connect_core.api.source import SourceTask
from connect_core.connectors.file.config import BATCH_SIZE, DEFAULT_BATCH_SIZE, FILE, SOURCE_CONFIG, TOPIC
from connect_core.connectors.file.lines import Lines, split
from connect_core.connectors.file.standard_input import StandardInput
from connect_core.connectors.file.tail import FileTail
from connect_core.errors import ConfigError, ConnectError, RetriableError

__all__ = ["FILENAME", "POSITION", "FileStreamSourceTask", "checked_position"]

FILENAME = "filename"
POSITION = "position"

_WAIT_SECONDS = 0.2


class FileStreamSourceTask(SourceTask):
    """Reads a file's complete lines; waits for the file to exist and to grow.

    Source partition ``{"filename": …}``, source offset ``{"position": bytes}``.
    Connect: ``FileStreamSourceTask``, whose position counts characters.
    """

    standard_input: ClassVar[int] = 0
    """The descriptor to read without a ``file``."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._reading = threading.Lock()
        self._rest: tuple[int, Lines] = (0, split(b""))
        self._tail: FileTail | None = None
        self._input: StandardInput | None = None

    def start(self, config: Mapping[str, str]) -> None:
        """Read the configuration and the committed position."""
        parsed = AbstractConfig(SOURCE_CONFIG, config)
        self._topic = parsed.get_string(TOPIC) or ""
        self._batch_size = max(1, parsed.get_int(BATCH_SIZE) or DEFAULT_BATCH_SIZE)
        file = parsed.get_string(FILE) or None
        self._partition: dict[str, Any] = {FILENAME: file}
        if file is None:
            self._read_standard_input()
            return
        key = canonical(self._partition)
        bound = (self.context.upper_bounds or {}).get(key)
        position = checked_position(self.context.offset_storage_reader.offset(self._partition))
        state = self.context.offset_states.get(key)
        self._tail = FileTail.resumed(file, self.context.limits, position, state, checked_position(bound))

    def stop(self) -> None:
        """End a waiting ``poll`` and close the file."""
        self._stopped.set()
        with self._reading:
            if self._tail is not None:
                self._tail.close()

    def poll(self) -> Sequence[SourceRecord] | None:
        """Return up to ``batch.size`` lines; waits briefly if there are none."""
        if self._input is not None:
            return self._records(None, self._input.read(self._batch_size, _WAIT_SECONDS))
        begin, lines = self._next_lines()
        first, rest = lines.take(self._batch_size)
        self._rest = begin, rest
        return self._records(begin, first)

    def poll_batch(self) -> Batch | None:
        """Return the lines of one block as columns; ``None`` for the standard input."""
        if self._input is not None:
            return None
        begin, lines = self._next_lines()
        self._rest = begin, split(b"")
        return self._batch(begin, lines)

    def offset_state(self, partition: Mapping[str, Any]) -> Mapping[str, str] | None:
        """Return the identity of the file read last, to be stored with its position."""
        with self._reading:
            return None if self._tail is None else self._tail.state()

    def _read_standard_input(self) -> None:
        if not self.context.limits.standalone:
            raise ConfigError(FILE, None, "the standard input can be used in standalone mode only; name a file")
        self._input = StandardInput(self.standard_input)

    def _next_lines(self) -> tuple[int, Lines]:
        """Return the lines not taken yet, and the position of their block in the file."""
        if len(self._rest[1]):
            return self._rest
        assert self._tail is not None
        lines = self._read()
        if lines is None:
            if not self._tail.is_at_bound:
                self._stopped.wait(_WAIT_SECONDS)
            return 0, split(b"")
        return self._tail.position - int(lines.nexts[-1]), lines

    def _read(self) -> Lines | None:
        assert self._tail is not None
        with self._reading:
            if self._stopped.is_set():
                return None
            try:
                return self._tail.read()
            except OSError as error:
                raise RetriableError(f"Reading {self._partition[FILENAME]} failed: {error}") from error

    def _records(self, begin: int | None, lines: Lines) -> list[SourceRecord] | None:
        now = _now()
        places = [None] * len(lines) if begin is None else (lines.nexts + begin).tolist()
        return [
            SourceRecord(
                self._topic,
                value_schema=STRING_SCHEMA,
                value=text,
                timestamp=now,
                source_partition=self._partition,
                source_offset={POSITION: place},
            )
            for text, place in zip(lines.texts(), places, strict=True)
        ] or None

    def _batch(self, begin: int, lines: Lines) -> Batch:
        rows, now = len(lines), _now()
        same = pa.repeat(pa.scalar(0, pa.int32()), rows)
        offset = pa.StructArray.from_arrays([pa.array(lines.nexts + begin, pa.int64())], [POSITION])
        return Batch(
            topic=pa.DictionaryArray.from_arrays(same, pa.array([self._topic])),
            partition=pa.nulls(rows, pa.int32()),
            offset=pa.nulls(rows, pa.int64()),
            timestamp=pa.repeat(pa.scalar(now, pa.int64()), rows),
            origin=pa.array(np.arange(rows, dtype=np.int64)),
            key=Columns(None, pa.nulls(rows)),
            value=Columns(STRING_SCHEMA, lines.to_arrow()),
            positions=SourcePositions((self._partition,), same, offset),
            read_time=now,
        )


def checked_position(offset: Mapping[str, Any] | None) -> int | None:
    """Return the position of a source offset, ``None`` without one. Raises ConnectError."""
    position = None if offset is None else offset.get(POSITION)
    if position is not None and (not isinstance(position, int) or isinstance(position, bool)):
        raise ConnectError(
            f"Offset position is the incorrect type: {position!r}; alter the connector's offset to a number"
        )
    return position


def _now() -> int:
    return time.time_ns() // 1_000_000
