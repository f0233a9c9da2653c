"""Commands are tested with the herder's test harness."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.herder.conftest import harness
from tests.store.databases import sqlite_template

__all__ = ["harness", "sqlite_template"]


@pytest.fixture(autouse=True)
def levels() -> Iterator[None]:
    """Commands quieten loggers of their process, which here is that of all tests."""
    names = (None, "connect_core", "connect_core.settings", "httpx", "httpcore")
    before = {name: logging.getLogger(name).level for name in names}
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)
