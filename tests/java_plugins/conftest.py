"""The plugins of a worker, once a session: looking for them takes a Java process."""

from __future__ import annotations

import pytest

from connect_core.java_plugins.plugins import JavaPlugins
from tests.java_plugins.equipment import java_plugins


@pytest.fixture(scope="session")
def plugins() -> JavaPlugins:
    """A worker's plugins."""
    return java_plugins()
