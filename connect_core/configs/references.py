"""References in a value: ``${provider:key}``, ``${provider:path:key}``, found in one pass.

Connect: the pattern of ``ConfigTransformer``, whose matching takes cubic time in the value's length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from connect_core.errors import ConfigError

__all__ = ["Reference", "references", "replaced"]

_MOST = 100
"""Most distinct references in one value."""
_LONGEST = 1 << 20
"""Most characters of a value with its references replaced."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The contents of the braces; ``path`` is empty if there is none."""

    provider: str
    path: str
    key: str


def references(value: str) -> Iterator[tuple[int, int, Reference]]:
    """Yield the start and end of each reference, and its contents."""
    at = value.find("${")
    while at >= 0:
        end = value.find("}", at)
        if end < 0:
            return
        provider, colon, rest = value[at + 2 : end].partition(":")
        if colon:
            path, colon, key = rest.partition(":")
            yield at, end + 1, Reference(provider, path if colon else "", key if colon else rest)
        at = value.find("${", end)


def replaced(value: str, look_up: Callable[[Reference], str | None]) -> str:
    """Return a value with its references replaced; those without a result are kept.

    Each is looked up once. Raise ConfigError for too many, and for a result
    that is too long.
    """
    known: dict[Reference, str | None] = {}
    parts, size, at = [], 0, 0
    for start, end, reference in references(value):
        if reference not in known:
            if len(known) == _MOST:
                raise ConfigError(f"it has more than {_MOST} references: write fewer")
            known[reference] = look_up(reference)
        found = known[reference]
        parts += [value[at:start], value[start:end] if found is None else found]
        size += len(parts[-2]) + len(parts[-1])
        if size > _LONGEST:
            raise ConfigError(f"with its references replaced it is longer than {_LONGEST} characters: shorten it")
        at = end
    return "".join([*parts, value[at:]])
