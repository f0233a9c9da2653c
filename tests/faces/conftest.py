"""One whole stack for all tests of the faces over Airflow."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.conftest import context, page
from tests.faces.stack import Faces, running_faces

__all__ = ["context", "page"]


@pytest.fixture(scope="package")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faces]:
    """The running stack, empty at first."""
    with running_faces(tmp_path_factory.mktemp("faces")) as running:
        yield running
