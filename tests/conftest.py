"""What holds for every test: which process runs it, examples that do not change in CI, and one browser."""

from __future__ import annotations

import atexit
import gc
import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from tests.full_run import examples
from tests.programs import chromium
from tests.selection import has_nothing_of, lost, suite_of
from tests.shared_servers import end_unneeded, shared

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from xdist.remote import Producer

    from tests.deployments.stack import Deployments

ONE_STACK = (
    "tests/deployments/",
    "tests/integration/test_hourly_export.py",
    "tests/migration/test_iceberg_switch.py",
    "tests/migration/test_live_connect.py",
    "tests/integration/test_main_job.py",
)
"""What shares one stack: the first ones want it empty, the last one restarts it with another setting."""
ONE_AIRFLOW = ("tests/dag/test_airflow.py", "tests/dag/test_lost_workers.py")
WHOLE_STACK = (
    *ONE_STACK,
    *ONE_AIRFLOW,
    "tests/dag/test_celery.py",
    "tests/dev/test_compose.py",
    "tests/integration/test_burst.py",
    "tests/integration/test_quickstart.py",
    "tests/benchmarks/test_scale.py",
    "tests/packaging/test_wheel.py",
)
"""What starts Airflow and all the rest, in this order: two such stacks at once are too much for two cores."""
SHARING = {
    "a whole stack": WHOLE_STACK,
    "a plugin worker": tuple(
        f"tests/integration/test_{name}.py" for name in ("errors", "side_by_side", "user_connectors")
    ),
    "a world of faults": ("tests/faults/",),
}
"""What takes long to start → the modules that share it."""
_LONGEST = (*WHOLE_STACK, "tests/faults/")
TIMEOUT_MS = 60_000

# Properties take as long as a busy machine needs; those that say nothing else are tried with some examples.
settings.register_profile("connect", deadline=None, max_examples=examples(40, 400))
settings.load_profile("connect")
# The code decides whether CI is green, not luck.
settings.register_profile("ci", derandomize=True, print_blob=True)
if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
    settings.load_profile("ci")


class ServersScheduling(LoadFileScheduling):  # type: ignore[misc]
    """One process runs a module, whose tests share servers, and one all modules that share what takes long to start."""

    def _split_scope(self, nodeid: str) -> str:
        # Not by marks: pytest-xdist 3.8 writes the group of a test where pytest 9.2 does not read it.
        found = (group for group, places in SHARING.items() if nodeid.startswith(places))
        return next(found, None) or str(super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Deal modules to processes where ``--dist loadfile`` asks for that."""
    return ServersScheduling(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no module for a suite that has nothing of it."""
    is_module = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    return True if is_module and has_nothing_of(suite_of(config.option.markexpr), collection_path) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes a whole stack, and longest; no test may be in a suite that does not import it."""
    if found := lost(items):
        raise pytest.UsageError("\n".join(found))
    items.sort(
        key=lambda item: next((at for at, place in enumerate(_LONGEST) if item.nodeid.startswith(place)), math.inf)
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """End servers with the last test that needs them."""
    yield
    end_unneeded(item, nextitem)


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
def deployments(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployments]:
    """One whole stack for all who need nothing of their own in it; each deletes its connectors."""
    from tests.deployments.stack import running_deployments

    with shared(ONE_STACK, running_deployments(tmp_path_factory.mktemp("deployments"))) as running:
        yield running


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
