"""Both ways in which a sink task receives records."""

from __future__ import annotations

import pytest


@pytest.fixture(params=[False, True], ids=["records", "batches"])
def batches(request: pytest.FixtureRequest) -> bool:
    """Whether records are put as batches of columns."""
    return bool(request.param)
