"""The herder's test harness, a Connect cluster beside it, and a broker."""

from __future__ import annotations

from tests.herder.conftest import harness
from tests.kafka.conftest import cluster
from tests.store.databases import sqlite_template

__all__ = ["cluster", "harness", "sqlite_template"]
