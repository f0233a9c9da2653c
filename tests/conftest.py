"""What holds for every test: which process runs it, examples that do not change in CI, and one browser."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from tests.programs import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from xdist.remote import Producer

WHOLE_STACK = (
    "tests/benchmarks/test_scale.py",
    "tests/dag/test_airflow.py",
    "tests/dag/test_celery.py",
    "tests/deployments/",
    "tests/integration/test_burst.py",
    "tests/integration/test_hourly_export.py",
    "tests/integration/test_main_job.py",
    "tests/integration/test_quickstart.py",
    "tests/migration/test_live_connect.py",
    "tests/packaging/test_wheel.py",
)
"""What starts Airflow and all the rest: two such stacks at once are too much for two cores."""
ONE_SET = "tests/faults/"
"""Modules whose tests share one set of servers: Kafka, PostgreSQL and Spark, with drivers."""
TIMEOUT_MS = 60_000

# Properties take as long as a busy machine needs.
settings.register_profile("connect", deadline=None)
settings.load_profile("connect")
# The code decides whether CI is green, not luck.
settings.register_profile("ci", derandomize=True, print_blob=True)
if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
    settings.load_profile("ci")


class ServersScheduling(LoadFileScheduling):  # type: ignore[misc]
    """One process runs a module, whose tests share servers; one, all that takes a whole stack; one, all the faults."""

    def _split_scope(self, nodeid: str) -> str:
        # Not by marks: pytest-xdist 3.8 writes the group of a test where pytest 9.2 does not read it.
        if nodeid.startswith(ONE_SET):
            return "faults"
        return "a whole stack" if nodeid.startswith(WHOLE_STACK) else str(super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Deal modules to processes where ``--dist loadfile`` asks for that."""
    return ServersScheduling(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes a whole stack, and longest."""
    items.sort(key=lambda item: not item.nodeid.startswith((*WHOLE_STACK, ONE_SET)))


def pytest_configure() -> None:
    """Look for no garbage among what is imported: there is next to none."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage only among what the tests make: with the imports a quarter of the unit tests' processor time."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """Look for no garbage at the end either: the process frees it all."""
    gc.freeze()
    if "_duckdb" in sys.modules:
        # Its bindings would list what Python has not freed, a hundred lines behind the report.
        atexit.register(lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 2))


@pytest.fixture(scope="module", autouse=True)
def environment_of_module() -> Iterator[None]:
    """What a module's tests put into the environment ends with them."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, one for all tests: Playwright takes no second beside it."""
    from playwright.sync_api import expect, sync_playwright

    program = chromium()
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=program.path, env={**program.environment()}, args=["--no-sandbox"]
        )
        yield launched
        launched.close()
