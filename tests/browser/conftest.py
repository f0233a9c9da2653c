"""Debian's Chromium, the page over a seeded database, and a standalone worker with real Kafka."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page

from connect_core.dev.stack import Stack
from connect_core.rest import LoopbackAuthorizer, RestOptions, create_app, serve_in_thread
from connect_core.settings import Listener
from connect_core.store import Database
from tests.browser.worker import Worker, running_worker
from tests.conftest import TIMEOUT_MS
from tests.herder.harness import Harness, worker
from tests.integration.topics import Topics
from tests.store.databases import sqlite_template

__all__ = ["sqlite_template"]


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A profile of its own."""
    made = browser.new_context(viewport={"width": 1280, "height": 800})
    made.set_default_timeout(TIMEOUT_MS)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A tab; whatever breaks or is refused by the content security policy in it fails the test."""
    tab = context.new_page()
    broken: list[str] = []
    tab.on("pageerror", lambda error: broken.append(str(error)))
    tab.on("console", lambda one: broken.append(one.text) if "Content Security Policy" in one.text else None)

    def refuse(dialog: Dialog) -> None:
        broken.append(f"a script said {dialog.message}")
        dialog.dismiss()

    tab.on("dialog", refuse)
    yield tab
    assert broken == []


@pytest.fixture
def harness(sqlite_template: Path, tmp_path: Path) -> Iterator[Harness]:
    """A herder over a fresh database; nothing runs."""
    shutil.copy(sqlite_template, tmp_path / "connect.db")
    database = Database(f"sqlite:///{tmp_path / 'connect.db'}")
    yield Harness(database, worker(**{"file.roots": str(tmp_path)}).with_standalone_id("here"))
    database.close()


@pytest.fixture
def site(harness: Harness) -> Iterator[str]:
    """Where the page over that herder is."""

    def herder(actor: str) -> object:
        return replace(harness.herder, actor=actor)

    app = create_app(herder, LoopbackAuthorizer(), RestOptions(deployment="standalone"))  # type: ignore[arg-type]
    server = serve_in_thread(app, Listener("http", "127.0.0.1", 0))
    yield f"http://127.0.0.1:{server.port}/ui/"
    server.stop()


@pytest.fixture(scope="session")
def topics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Topics]:
    """A real broker."""
    stack = Stack(tmp_path_factory.mktemp("stack"), services=("kafka",))
    stack.up()
    try:
        yield Topics(stack.environment()["CONNECT_BOOTSTRAP_SERVERS"])
    finally:
        stack.down()


@pytest.fixture(scope="session")
def standalone(topics: Topics, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """`connect standalone` as a user runs it."""
    with running_worker(tmp_path_factory.mktemp("standalone"), topics.bootstrap) as started:
        yield started
