"""One host for all tests that only talk to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from connect_core.java_host.host import JavaHost
from tests.java_plugins.equipment import host_settings


@pytest.fixture(scope="session")
def host() -> Iterator[JavaHost]:
    """A host with the plugin of these tests."""
    started = JavaHost.start(host_settings(), "tests")
    yield started
    started.close()
