"""Raw batches that are remembered for errant records: how many, and until when."""

from __future__ import annotations

from dataclasses import replace

from connect_core.task.raw_memory import RawMemory
from tests.task.equipment import raw


def found(memory: RawMemory) -> list[int]:
    return [offset for offset in range(9) if memory.find("t", 0, offset) is not None]


def test_record_is_found_by_topic_partition_and_offset() -> None:
    memory, batch = RawMemory(), raw(["a", "b", "c"], 4)
    memory.add(batch)
    memory.add(replace(raw(["x", "y"], 5), topic="u"))
    assert memory.find("t", 0, 5) == (batch, 1)
    assert memory.find("t", 1, 5) is None
    assert memory.find("t", 0, 7) is None
    assert memory.find(None, None, 5) is None


def test_oldest_batches_are_dropped_when_there_are_too_many_bytes() -> None:
    memory = RawMemory(most_bytes=2500)
    for offset in range(5):
        memory.add(raw(["x" * 1000], offset))
    assert found(memory) == [3, 4]
    memory.add(raw(["x" * 9000], 5))
    assert found(memory) == [5], "the latest batch is kept whatever its size"


def test_headers_count() -> None:
    memory = RawMemory(most_bytes=2500)
    for offset in range(5):
        memory.add(replace(raw(["x"], offset), headers=[[("h", b"x" * 1000), ("null", None)]]))
    assert found(memory) == [3, 4]


def test_written_batches_are_forgotten() -> None:
    memory = RawMemory()
    for offset in range(3):
        memory.add(raw(["x"], offset))
    memory.forget()
    assert found(memory) == [2]
    memory.add(raw([]))
    assert memory.latest == raw([])
