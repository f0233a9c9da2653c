"""What holds for every test: which process runs it, examples that do not change in CI, and one browser."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WHOLE_STACK = "whole-stack"
"""The group of modules that start Airflow and all the rest: two such stacks at once are too much for two cores."""
CHROMIUM = Path("/usr/bin/chromium")
PATIENCE_MS = 60_000

# The code decides whether CI is green, not luck.
settings.register_profile("ci", derandomize=True, print_blob=True)
if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
    settings.load_profile("ci")


# Before pytest-xdist reads the groups.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one process run a module, whose tests share servers, and one all that take a whole stack, which begin."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(str(item.path)))
    items.sort(key=lambda item: _group(item) != WHOLE_STACK)


def _group(item: pytest.Item) -> str:
    mark = item.get_closest_marker("xdist_group")
    return "" if mark is None else str(mark.args[0])


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

    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is missing: apt-get install chromium")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()
