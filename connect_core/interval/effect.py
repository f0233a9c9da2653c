"""What the protocol yields."""

from __future__ import annotations

__all__ = ["Effect"]


class Effect:
    """One act on the world."""

    __slots__ = ()
