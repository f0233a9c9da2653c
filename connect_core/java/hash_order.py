"""The iteration order of a Java HashSet of texts, which is visible in some messages."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["in_hash_order"]


def in_hash_order(texts: Iterable[str], buckets: int = 16) -> list[str]:
    """Return the distinct texts in the order of ``java.util.HashSet``; ``buckets`` is its initial capacity."""
    distinct = list(dict.fromkeys(texts))
    while len(distinct) * 4 > buckets * 3:
        buckets *= 2
    return sorted(distinct, key=lambda text: _spread(text) % buckets)


def _spread(text: str) -> int:
    hashed = 0
    for unit in memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H"):
        hashed = (31 * hashed + unit) & 0xFFFF_FFFF
    return hashed ^ hashed >> 16
