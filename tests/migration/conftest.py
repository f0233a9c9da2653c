"""The herder's test harness, and a Connect cluster beside it."""

from __future__ import annotations

from tests.herder.conftest import harness
from tests.store.databases import sqlite_template

__all__ = ["harness", "sqlite_template"]
