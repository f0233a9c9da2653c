"""What log rotation does to the file a source follows, its task killed beside it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TextIO

from tests.faults.history import Findings, History
from tests.faults.rows.row import Row
from tests.faults.world import World

_LINES = 500
_ROTATIONS = 6


def rotate(world: World) -> Findings:
    """Renamed while a second writer still has it open, its last line half written; copied and cut; its inode reused."""
    history = History(world, f"row-56-{world.random.getrandbits(24):06x}", is_ordered=False)
    history.begin()
    _append(history, 2 * _LINES)
    history.await_committed(history.source, 2 * _LINES)
    for number in range(_ROTATIONS):
        # Rotating less often than intervals run is part of the guarantee; what is unread at each rotation is not.
        history.await_committed(history.source, history.written)
        _append(history, _LINES)
        act = (_rename_with_late_writer, _rename_half_a_line, _copy_and_cut)[number % 3]
        act(history, Path(f"{history.file}.{number}"))
        _append(history, _LINES)
        _kill_source(history)
    _reuse_inode(history)
    _append(history, _LINES)
    history.heal()
    return history.end(_ROTATIONS + 1)


def _append(history: History, count: int) -> None:
    with history.file.open("a") as target:
        _write(history, target, count)


def _write(history: History, target: TextIO, count: int) -> None:
    target.writelines(f"line {number}\n" for number in range(history.written, history.written + count))
    target.flush()
    history.written += count


def _rename_with_late_writer(history: History, rotated: Path) -> None:
    with history.file.open("a") as late:
        _write(history, late, _LINES)
        history.file.rename(rotated)
        _append(history, _LINES)
        time.sleep(1)
        _write(history, late, _LINES)


def _rename_half_a_line(history: History, rotated: Path) -> None:
    with history.file.open("a") as late:
        _write(history, late, _LINES)
        late.write(f"line {history.written}"[:6])
        late.flush()
        history.file.rename(rotated)
        number, history.written = history.written, history.written + 1
        _append(history, _LINES)
        time.sleep(1)
        late.write(f"line {number}\n"[6:])


def _copy_and_cut(history: History, rotated: Path) -> None:
    _append(history, _LINES)
    rotated.write_bytes(history.file.read_bytes())
    os.truncate(history.file, 0)


def _reuse_inode(history: History) -> None:
    """Another file gets the number of the one before: file systems give out again what is free."""
    history.await_committed(history.source, history.written)
    history.file.unlink()
    history.file.touch()


def _kill_source(history: History) -> None:
    for driver in history.world.drivers:
        if driver.connector == history.source:
            driver.process.kill()
            driver.process.wait()
    history.heal()


ROWS: tuple[Row, ...] = (Row(56, "file rotated by rename and copytruncate, sources killed", rotate),)
