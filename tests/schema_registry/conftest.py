"""One Apicurio Registry for all tests; each test has subjects of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.schema_registry.apicurio_server import apicurio_running


@pytest.fixture(scope="session")
def apicurio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return its address, for ``schema.registry.url``."""
    with apicurio_running(tmp_path_factory.mktemp("apicurio")) as url:
        yield url
