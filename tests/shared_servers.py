"""Servers that some modules share: they end with the last of these, not with the session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import pytest

__all__ = ["end_unneeded", "shared"]

Servers = TypeVar("Servers")
_RUNNING: dict[tuple[str, ...], ExitStack] = {}


@contextmanager
def shared(modules: tuple[str, ...], servers: AbstractContextManager[Servers]) -> Iterator[Servers]:
    """Run servers for a fixture of the session; ``modules``: how the ids of the tests begin that need them."""
    with ExitStack() as ending:
        _RUNNING[modules] = ending
        yield ending.enter_context(servers)


def end_unneeded(item: pytest.Item, following: pytest.Item | None) -> None:
    """End what the test that is over needed, and the following one does not."""
    for modules in list(_RUNNING):
        is_needed = following is not None and following.nodeid.startswith(modules)
        if item.nodeid.startswith(modules) and not is_needed:
            _RUNNING.pop(modules).close()
