"""Secrets are found nowhere, and user text is never a template: REST, page, logs, databases, XCom, argv, Spark."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import quote

import httpx
import psycopg
import pytest
from playwright.sync_api import BrowserContext, Page, expect
from psycopg import sql

from connect_core.dev.postgres import database_url
from connect_core.dev.secrets import secret
from tests.deployments.stack import IN_VARIABLE, VARIABLE, Deployments, Standalone
from tests.integration.deployment import eventually

pytestmark = [pytest.mark.browser, pytest.mark.servers, pytest.mark.timeout(600)]

SECRETS = (*(f"canary-{word}-{uuid.uuid4().hex}" for word in ("literal", "file", "dir")), IN_VARIABLE)
USERS = ("shop", "reader_of_file", "reader_of_dir", "reader_of_env")
TEMPLATE, RENDERED = "{{7919*7907}}", "62615533"
"""What nobody but a template engine makes of the text."""
NAME = f"{TEMPLATE}<script>alert(1)<b>"
BROKEN = f"broken {NAME}"
OTHERS = ("broken dir", "broken env")
DIVISION = {"query": "SELECT id, 1 / (id - 1) AS part FROM items"}
TABS = ("overview", "intervals", "tasks", "offsets", "config", "errors")
NOT_SEARCHED = {"secrets", "settings.env", "env"}
"""What is there to keep secrets, for the owner only: a folder, the test's own settings, the processes' variables."""


@dataclass(slots=True)
class Commands:
    """Every command line seen on the machine."""

    seen: set[bytes] = field(default_factory=set)

    def look(self) -> None:
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                self.seen.add(file.read_bytes())
            except OSError:  # it has ended
                continue


@contextmanager
def watched_commands() -> Iterator[Commands]:
    commands, ended = Commands(), threading.Event()

    def watch() -> None:
        while not ended.wait(0.1):
            commands.look()

    thread = threading.Thread(target=watch)
    thread.start()
    yield commands
    ended.set()
    thread.join()


@pytest.fixture(scope="module")
def shop(deployments: Deployments) -> str:
    """A database whose users' passwords are the secrets."""
    home = deployments.stack.home
    where = f"127.0.0.1:{deployments.stack.service('postgres').port}"
    with psycopg.connect(
        f"postgresql://postgres:{secret(home, 'postgres')}@{where}/postgres", autocommit=True
    ) as admin:
        for user, password in zip(USERS, SECRETS, strict=True):
            create = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
            admin.execute(create.format(sql.Identifier(user), sql.Literal(password)))
        admin.execute("CREATE DATABASE shop OWNER shop")
    with psycopg.connect(f"postgresql://shop:{SECRETS[0]}@{where}/shop") as owner:
        owner.execute("CREATE TABLE items (id int PRIMARY KEY, name text)")
        owner.execute("INSERT INTO items VALUES (1, 'one'), (2, 'two')")
        owner.execute(f"GRANT SELECT ON items TO {', '.join(USERS[1:])}")
    return f"jdbc:postgresql://{where}/shop"


def source(url: str, user: str, password: str) -> dict[str, str]:
    return {
        "connector.class": "JdbcSource",
        "connection.url": url,
        "connection.user": user,
        "connection.password": password,
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "topic.prefix": f"shop-{uuid.uuid4().hex[:6]}-",
        "tags": f"{{{{ var.value.x }}}} {TEMPLATE}",
        "unknown": f"<script>{TEMPLATE}",
    }


def create(deployments: Deployments, name: str, config: dict[str, str]) -> None:
    body = {"name": name, "config": config}
    answer = httpx.post(f"{deployments.mounted}/connectors", json=body, headers=deployments.header, timeout=60)
    assert answer.status_code == 201, answer.text


def status(deployments: Deployments, name: str) -> dict[str, dict[str, str]]:
    answer = httpx.get(f"{deployments.rest}/connectors/{quote(name, safe='')}/status", timeout=60)
    return dict(answer.json())


def status_text(deployments: Deployments, name: str) -> str:
    return json.dumps(status(deployments, name))


def test_secrets_are_nowhere_and_templates_stay_text(
    deployments: Deployments, shop: str, context: BrowserContext, page: Page
) -> None:
    with watched_commands() as commands:
        create(deployments, NAME, source(shop, "shop", SECRETS[0]))
        for name, user, reference in zip((BROKEN, *OTHERS), USERS[1:], references(deployments), strict=True):
            create(deployments, name, {**source(shop, user, reference), **DIVISION})
        eventually(lambda: committed(deployments, NAME), lambda records: records == 2, 180)
        for name in (BROKEN, *OTHERS):
            found = eventually(partial(status_text, deployments, name), lambda one: "FAILED" in one, 180)
            assert "division by zero" in found, "the password did not reach the database"
        answers = [*walked(deployments), *tried(deployments, shop)]
        texts = list(shown(deployments, context, page))
    assert len(answers) > 40
    assert_clean("a command line", b"\n".join(commands.seen))
    for address, text in answers:
        assert_clean(address, text.encode())
    for tab, text in texts:
        assert_clean(f"the page's tab {tab}", text.encode())
    for name in ("airflow", "connect"):
        assert_clean(f"the database {name}", database_text(database_url(deployments.stack.home, name)).encode())
    for file in files(deployments):
        assert_clean(str(file), file.read_bytes())
    assert any(file.parent.name == "events" or "events" in file.parts for file in files(deployments))


def references(deployments: Deployments) -> list[str]:
    """Return the references to the secrets of a file, a folder and a variable, which are there from now on."""
    (deployments.folder / "shop.properties").write_text(f"password={SECRETS[1]}\n")
    (deployments.folder / "password").write_text(SECRETS[2])
    return [
        f"${{file:{deployments.folder}/shop.properties:password}}",
        f"${{dir:{deployments.folder}:password}}",
        f"${{env:{VARIABLE}}}",
    ]


def wrong(url: str, value: str) -> Iterator[dict[str, str]]:
    """Yield configurations that are refused for what the secret stands in."""
    given = source(url, "nobody", value)
    for key in ("mode", "tasks.max", "connection.url", "errors.tolerance", "poll.interval.ms", "late.window.ms"):
        yield {**given, key: value}
    yield {**given, "connection.url": f"{url}?password={value}", "producer.override.client.id": value}


def tried(deployments: Deployments, url: str) -> Iterator[tuple[str, str]]:
    """Yield the answers of both deployments to configurations that a wrong secret makes invalid."""
    for base, headers in ((deployments.rest, {}), (deployments.mounted, deployments.header)):
        for value in references(deployments):
            for config in wrong(url, value):
                body = {"name": "refused", **config}
                path = f"{base}/connector-plugins/JdbcSource/config/validate"
                yield path, httpx.put(path, json=body, headers=headers, timeout=60).text
                made = httpx.post(
                    f"{base}/connectors", json={"name": "refused", "config": config}, headers=headers, timeout=60
                )
                yield f"{base}/connectors", made.text
                httpx.delete(f"{base}/connectors/refused", headers=headers, timeout=60)


def test_standalone_shows_no_secret(deployments: Deployments, standalone_deployment: Standalone, shop: str) -> None:
    """In its answers, log and database; each password is used, then something fails."""
    with httpx.Client(base_url=standalone_deployment.base, timeout=60) as client:
        found = [text for made in zip(USERS, (SECRETS[0], *references(deployments)), strict=True)
                 for text in tried_there(client, shop, *made)]  # fmt: skip
        for user in USERS:
            look = partial(client.get, f"/connectors/{user}/status")
            found_there = eventually(look, lambda answer: "FAILED" in answer.text, 180)
            assert "division by zero" in found_there.text
        found += walked_there(client)
    assert len(found) > 100
    for text in found:
        assert_clean("an answer", text.encode())
    for file in standalone_deployment.folder.rglob("*"):
        if file.is_file():
            assert_clean(str(file), file.read_bytes())


def tried_there(client: httpx.Client, url: str, user: str, value: str) -> Iterator[str]:
    """Create a connector that will fail, and others that are refused → all answers."""
    good = {**source(url, user, value), **DIVISION}
    refused = [source(url, "nobody", value), *(wrong(url, value) if "$" in value else ())]
    for name, config in ((user, good), *(("refused", config) for config in refused)):
        yield client.put("/connector-plugins/JdbcSource/config/validate", json={"name": name, **config}).text
        made = client.post("/connectors", json={"name": name, "config": config})
        assert (made.status_code == 201) is (name == user), made.text
        yield made.text


def walked_there(client: httpx.Client) -> Iterator[str]:
    """Yield what every GET answers for each connector."""
    described = client.get("/openapi.json").json()["paths"]
    paths = [path for path, methods in described.items() if "get" in methods]
    for name in USERS:
        given = {"connector": name, "task": "0", "plugin": "JdbcSource", "logger": "root"}
        for path in (*paths, "/openapi.json", "/docs", "/metrics"):
            yield client.get(path.format(**given, sequence="1", version="1")).text


def assert_clean(place: str, found: bytes) -> None:
    for word in (*SECRETS, RENDERED):
        position = found.find(word.encode())
        assert position < 0, f"{word} is in {place}: {found[max(0, position - 200) : position + 100]!r}"


def committed(deployments: Deployments, name: str) -> int:
    address = f"{deployments.rest}/v1/connectors/{quote(name, safe='')}/intervals"
    found = httpx.get(address, timeout=60).json()["intervals"]
    return sum(one["counts"]["records"] for one in found if one["state"] == "COMMITTED")


def walked(deployments: Deployments) -> Iterator[tuple[str, str]]:
    """Yield what every GET of the API answers, on both deployments, for both connectors."""
    described = httpx.get(f"{deployments.mounted}/openapi.json", headers=deployments.header, timeout=60).json()["paths"]
    for base, headers in ((deployments.rest, {}), (deployments.mounted, deployments.header)):
        for name in (NAME, BROKEN, *OTHERS):
            given = {"connector": quote(name, safe=""), "task": "0", "plugin": "JdbcSource", "logger": "root"}
            for path in ("/openapi.json", "/docs", "/metrics"):
                yield path, httpx.get(base + path, headers=headers, timeout=60).text
            for path, methods in described.items():
                if "get" in methods:
                    address = base + path.format(**given, sequence="1", version="1") + "?expand=info&expand=status"
                    yield address, httpx.get(address, headers=headers, timeout=60).text


def shown(deployments: Deployments, context: BrowserContext, page: Page) -> Iterator[tuple[str, str]]:
    """Yield what the page holds; its fixture fails when a script of the names has run."""
    context.add_cookies([{"name": "_token", "value": deployments.token, "url": deployments.airflow}])
    for name in (NAME, BROKEN):
        for tab in TABS:
            page.goto(f"{deployments.mounted}/ui/#/connectors/{quote(name, safe='')}/{tab}")
            expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
            expect(page.locator(".tab-body")).not_to_be_empty()
            yield tab, page.content()


def database_text(url: str) -> str:
    """Return every row of every table as text."""
    rows: list[str] = []
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        tables = connection.execute(
            "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables"
            " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        for (table,) in tables:
            rows += [row[0] for row in connection.execute(f"SELECT one::text FROM {table} one").fetchall()]
    return "\n".join(rows)


def files(deployments: Deployments) -> Iterator[Path]:
    """Yield logs, Spark's event log, Kafka's and PostgreSQL's files: all that the stack has written."""
    state = deployments.stack.home.path
    for top in (*state.iterdir(), state.parent / "events"):
        if top.name not in NOT_SEARCHED:
            yield from (file for file in ([top] if top.is_file() else top.rglob("*")) if file.is_file())
