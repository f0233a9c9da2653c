"""Secrets of the configuration that is being read: Java plugins may print what they are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

__all__ = ["HiddenTexts", "SecretTexts", "redacting", "secret_texts"]

SecretTexts = Callable[[], Mapping[str, str]]
"""Returns what is shown in place of each secret; it is called only where a plugin is given the configuration."""

_HIDDEN = "[hidden]"
_SHORTEST = 4
_MOST_KEPT = 10_000
_IN_FORCE: ContextVar[SecretTexts | None] = ContextVar("secret_texts", default=None)


@contextmanager
def redacting(texts: SecretTexts) -> Iterator[None]:
    """Let what Java plugins print in this block, and later in the same process, be shown without these secrets."""
    token = _IN_FORCE.set(texts)
    try:
        yield
    finally:
        _IN_FORCE.reset(token)


def secret_texts(config: Mapping[str, str | None]) -> SecretTexts:
    """Return the secrets in force for a configuration; where none were declared, all its values are hidden."""
    return _IN_FORCE.get() or (
        lambda: {value: _HIDDEN for value in config.values() if value and len(value) >= _SHORTEST}
    )


@dataclass(slots=True)
class HiddenTexts:
    """The secrets that one process was given, for connectors of all kinds; the newest ``_MOST_KEPT`` are known."""

    _shown: Mapping[str, str] = field(default_factory=dict)

    def add(self, texts: Mapping[str, str]) -> None:
        """Hide further secrets. The mapping is replaced, not changed: another thread reads it."""
        if all(self._shown.get(secret) == shown for secret, shown in texts.items()):
            return
        older = {secret: shown for secret, shown in self._shown.items() if secret not in texts}
        kept = dict(list({**older, **texts}.items())[-_MOST_KEPT:])
        self._shown = kept

    def clean(self, text: str) -> str:
        """Return a text without the secrets; of two that overlap the longer one is replaced."""
        found = sorted(((secret, shown) for secret, shown in self._shown.items() if secret in text), key=_by_length)
        for secret, shown in found:
            text = text.replace(secret, shown)
        return text


def _by_length(entry: tuple[str, str]) -> int:
    return -len(entry[0])
