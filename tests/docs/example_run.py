"""Running a connector of the documentation: in this process, on a real broker and a fresh SQLite database."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

from connect_core.configs import providers_of
from connect_core.effects.worker import ConnectorWorker
from connect_core.herder.connectors import NewConnector, create
from connect_core.herder.context import Herder
from connect_core.herder.rewriting import rewrite_in_database
from connect_core.interval.runs import RunOutcome, RunRequest
from connect_core.kafka.internal_topics import create_internal_topics
from connect_core.run.driver import Driver
from connect_core.run.loop import work_off
from connect_core.run.runner import ThreadRunner
from connect_core.settings import WorkerMode, WorkerSettings
from connect_core.standalone.scheduler import StandaloneScheduler
from connect_core.store import Database, deployment, migrate


@dataclass(slots=True)
class Items:
    """A web service that answers ``?after=ID`` by the items with greater ids."""

    items: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    def after(self, last: int) -> list[dict[str, Any]]:
        return [item for item in self.items if item["id"] > last]


@contextmanager
def serving(items: Items) -> Iterator[Items]:
    """Serve items on a port of loopback while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = parse_qs(urlparse(self.path).query)
            body = json.dumps(items.after(int(asked["after"][0]))).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        items.url = f"http://127.0.0.1:{server.server_address[1]}/items"
        try:
            yield items
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def worker_of(folder: Path, bootstrap: str, name: str, config: Mapping[str, str]) -> Iterator[ConnectorWorker]:
    """Store a connector in a database of its own, and yield what performs its runs."""
    properties = {
        "bootstrap.servers": bootstrap,
        "key.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "offset.storage.file.filename": str(folder / "connect.offsets"),
        "offset.storage.partitions": "1",
    }
    settings = WorkerSettings.from_properties(properties, {}, WorkerMode.STANDALONE)
    migrate(settings.database_url)
    database = Database(settings.database_url)
    with database.write() as connection:
        settings = settings.with_standalone_id(deployment.identity(connection))
    create_internal_topics(settings)
    worker = ConnectorWorker(settings, database, name)
    herder = Herder(database, settings, _NoLoops(), rewrite_in_database, providers_of(settings, {}))
    create(herder, NewConnector(name, config))
    try:
        yield worker
    finally:
        worker.close()
        database.close()


def run_once(worker: ConnectorWorker) -> RunOutcome:
    """Run the connector until nothing is left to do."""
    return work_off(RunRequest(worker.name, "test"), Driver(worker), ThreadRunner())


class _NoLoops(StandaloneScheduler):
    """Starts nothing: the test runs the connector itself."""

    def __init__(self) -> None:
        super().__init__(lambda name: None, lambda name: True)  # type: ignore[arg-type, return-value]

    def deploy(self, connector: str) -> None:
        """Leave it to the test."""
