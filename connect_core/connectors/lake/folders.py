"""The folders of a connector's files within a table's data."""

from __future__ import annotations

from dataclasses import dataclass

from connect_core.connectors.lake.decisions import StateStore
from connect_core.errors import RetriableError

__all__ = ["Folders", "identity_of"]


@dataclass(frozen=True, slots=True)
class Folders:
    """``name``: the connector's, safe in paths; ``control``: the identity of the store of its decisions.

    Sequences restart with the store, and connectors of two deployments may have one name: without the identity, what
    one of them has committed would look like leftovers to another.
    """

    name: str
    control: str

    def interval(self, incarnation: int, sequence: int) -> str:
        """Return the folder of what the tasks of an interval stage."""
        return f"{self._home}/{incarnation}-{sequence}"

    def rewritten(self, incarnation: int, sequence: int) -> str:
        """Return the folder of copies for an interval."""
        return f"{self._home}/rewritten-{incarnation}-{sequence}"

    @property
    def compacted(self) -> str:
        """The folder of merged files."""
        return f"{self._home}/compacted"

    @property
    def _home(self) -> str:
        return f"connect/{self.name}/{self.control}"


def identity_of(store: StateStore) -> str:
    """Return the identity of a store of decisions. Raises RetriableError if there is none."""
    stored = store.read()
    if stored is None:
        raise RetriableError(f"{store.name} is gone while an interval runs; the next run creates it")
    return stored.identity
