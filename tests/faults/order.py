"""Order, invariant I3: what one writer numbered ascends within each partition, and in the files of each partition."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["files_out_of_order", "partitions_out_of_order"]


def partitions_out_of_order(records: Iterable[tuple[int, int]]) -> Iterator[int]:
    """Yield the partitions in which a number stands behind a higher one; ``records``: (partition, number) as read."""
    numbers: dict[int, list[int]] = {}
    for partition, number in records:
        numbers.setdefault(partition, []).append(number)
    yield from (partition for partition, found in sorted(numbers.items()) if not _ascends(found))


def files_out_of_order(folders: Mapping[str, Iterable[Sequence[int]]]) -> Iterator[str]:
    """Yield the folders whose files, one after the other, do not ascend; ``folders``: name → each file's numbers."""
    for name, files in sorted(folders.items()):
        if not _ascends([number for numbers in sorted(map(list, files)) for number in numbers]):
            yield name


def _ascends(numbers: Sequence[int]) -> bool:
    """Return whether no number stands behind a higher one; repeated ones are counted elsewhere."""
    return all(before <= after for before, after in itertools.pairwise(numbers))
