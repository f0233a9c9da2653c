"""The task of FileSystemSource: reads the pieces of its slots, as columns or records."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from connect_core.api.batch import Batch, Data, LazyOffsets, SourcePositions
from connect_core.api.offsets import parse
from connect_core.api.records import SourceRecord
from connect_core.api.source import SourceTask
from connect_core.connectors.filesystem.source.config import SourceSettings, source_files
from connect_core.connectors.filesystem.source.offset import NEXT, POSITION, SlotState, slot_partition
from connect_core.connectors.filesystem.source.piece import Piece
from connect_core.connectors.filesystem.source.pieces import rows_of
from connect_core.connectors.filesystem.source.plan import changed_text, slot_of
from connect_core.connectors.filesystem.storages.source_files import FileChangedError, FileGoneError
from connect_core.errors import ConnectError, RetriableError

__all__ = ["TASK", "TASKS", "FileSystemSourceTask"]

TASK = "_task"
TASKS = "_tasks"
_WAIT_SECONDS = 0.2
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _OffsetsOf:
    """Makes offsets from the positions of rows: the piece to read next, and how many of its rows are read."""

    common: Mapping[str, Any]

    def __call__(self, places: pa.Table) -> list[Mapping[str, Any] | None]:
        rows = zip(places.column(NEXT).to_pylist(), places.column(POSITION).to_pylist(), strict=True)
        return [{**self.common, NEXT: piece, POSITION: position} for piece, position in rows]


class FileSystemSourceTask(SourceTask):
    """Reads the pieces that were planned for its slots, one after the other, up to the bounds."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._polling = threading.Lock()
        self._batches: Iterator[Batch] | None = None
        self._is_exhausted = False

    def start(self, config: Mapping[str, str]) -> None:
        """Read the settings and the slots, without opening anything yet."""
        self._settings = SourceSettings.of(config)
        self._files = source_files(config, self.context.limits)
        task, tasks = int(config.get(TASK, 0)), int(config.get(TASKS, 1))
        self._bounds: dict[int, SlotState] = {}
        for key, offset in (self.context.upper_bounds or {}).items():
            slot = slot_of(parse(key), self._settings)
            if slot is not None and slot % tasks == task:
                self._bounds[slot] = SlotState.of(offset, self._settings.by_name)
        partitions = [self._partition(slot) for slot in self._bounds]
        found = self.context.offset_storage_reader.offsets(partitions)
        self._places = {slot: self._place(slot, one) for slot, (_, one) in zip(self._bounds, found, strict=True)}

    def stop(self) -> None:
        """Stop reading after the current block."""
        self._stopped.set()
        with self._polling:
            self._close()

    def poll(self) -> Sequence[SourceRecord] | None:
        """Return the rows of one block as records."""
        batch = self._next()
        records: Sequence[Any] | None = None if batch is None else batch.to_records()
        return records

    def poll_batch(self) -> Batch | None:
        """Return the rows of one block as columns."""
        batch = self._next()
        return Batch.from_records([]) if batch is None else batch

    def is_exhausted(self) -> bool:
        """Return whether all planned pieces have been read; some may have no rows, or no longer exist."""
        return self._is_exhausted

    def _partition(self, slot: int) -> dict[str, Any]:
        return slot_partition(self._settings.path, slot, self._settings.by_name)

    def _place(self, slot: int, offset: Mapping[str, Any] | None) -> tuple[int, int]:
        """Return the piece to continue with, and how many of its rows were read."""
        bound = self._bounds[slot]
        if offset is None:
            return 0, 0
        state = SlotState.of(offset, self._settings.by_name)
        if (state.batch, state.read) == (bound.batch, bound.read):
            return state.next, state.position
        return 0, 0

    def _next(self) -> Batch | None:
        with self._polling:
            if self._stopped.is_set():
                return None
            if self._batches is None:
                self._batches = self._read()
            try:
                batch = next(self._batches, None)
            except RetriableError:
                # The next poll continues after the last row that was returned.
                self._batches = None
                raise
        if batch is None:
            if self._is_exhausted:
                self._stopped.wait(_WAIT_SECONDS)
            self._is_exhausted = True
        return batch

    def _close(self) -> None:
        close = getattr(self._batches, "close", None)
        if close is not None:
            close()

    def _read(self) -> Iterator[Batch]:
        for slot, bound in self._bounds.items():
            while self._places[slot][0] < len(bound.batch):
                number, _ = self._places[slot]
                try:
                    yield from self._piece(slot, bound.batch[number], number)
                except (FileGoneError, FileChangedError) as error:
                    if not self._is_left_out(slot, bound.batch[number], error):
                        break
                self._places[slot] = number + 1, 0

    def _piece(self, slot: int, piece: Piece, number: int) -> Iterator[Batch]:
        """Return a piece's rows; the last block's final offset is the start of the next piece."""
        ahead: Data | None = None
        for block in rows_of(self._files, self._settings.reader, piece, self._places[slot][1]):
            if ahead is not None:
                yield self._taken(slot, ahead, number, is_last=False)
            ahead = block
        if ahead is not None:
            yield self._taken(slot, ahead, number, is_last=True)

    def _is_left_out(self, slot: int, piece: Piece, error: ConnectError) -> bool:
        """Return whether the rest of a piece is skipped; one whose reading has not begun is left to the next plan.

        Raises ConnectError if the rest must not be skipped.
        """
        if not self._places[slot][1]:
            _LOG.warning("%s will be planned again: %s", piece, error)
            return False
        if self._settings.is_strict:
            raise ConnectError(changed_text(piece, isinstance(error, FileGoneError))) from error
        _LOG.warning("the rest of %s is skipped: %s", piece, error)
        return True

    def _taken(self, slot: int, block: Data, number: int, is_last: bool) -> Batch:
        begin = self._places[slot][1]
        self._places[slot] = (number, begin + len(block))
        try:
            return self._batch(slot, block, number, begin, is_last)
        except ConnectError as error:
            name = self._bounds[slot].batch[number].entry.name
            raise type(error)(f"{name}: {error}") from error

    def _batch(self, slot: int, block: Data, number: int, begin: int, is_last: bool) -> Batch:
        rows, parts = len(block), self._settings.restoring.restored(block)
        same = pa.repeat(pa.scalar(0, pa.int32()), rows)
        topic = self._settings.topic
        return Batch(
            topic=pa.DictionaryArray.from_arrays(same, pa.array([topic]))
            if topic or parts.topic is None
            else parts.topic,
            partition=pa.nulls(rows, pa.int32()) if parts.partition is None else parts.partition,
            offset=pa.nulls(rows, pa.int64()),
            timestamp=pa.nulls(rows, pa.int64()) if parts.timestamp is None else parts.timestamp,
            origin=pa.array(np.arange(rows, dtype=np.int64)),
            key=parts.key,
            value=parts.value,
            headers=parts.headers,
            positions=SourcePositions(
                (self._partition(slot),), same, self._offsets(slot, number, begin, rows, is_last)
            ),
        )

    def _offsets(self, slot: int, number: int, begin: int, rows: int, is_last: bool) -> LazyOffsets:
        pieces = np.full(rows, number, np.int64)
        positions = np.arange(begin + 1, begin + rows + 1, dtype=np.int64)
        if is_last:
            pieces[-1], positions[-1] = number + 1, 0
        common = replace(self._bounds[slot], next=0, position=0).to_offset()
        return LazyOffsets(pa.table({NEXT: pieces, POSITION: positions}), _OffsetsOf(common))
