"""The herder's world, and a Connect cluster beside it."""

from __future__ import annotations

from tests.herder.conftest import world
from tests.store.databases import sqlite_template

__all__ = ["sqlite_template", "world"]
