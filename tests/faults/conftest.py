"""One set of servers for all tests of this folder."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from random import Random

import pytest

from tests.faults.world import World


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Half the lines and at most three rounds of a fault: ``make faults`` has all."""
    seed = secrets.randbelow(2**32)
    print(f"seed {seed}")
    with World(tmp_path_factory.mktemp("faults"), Random(seed), batches=20, most=3) as world:
        yield world
