"""Apache Kafka Connect as a peer: a standalone worker whose connectors run one at a time."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from tests.benchmarks.connector_runs import Moved
from tests.integration.ports import free_port

__all__ = ["PEER", "ConnectWorker", "await_plugins", "connect_worker", "connector", "fetch_jars"]

PEER = Path(__file__).parents[1] / "peer"
_COMPLETE_SECONDS = 120.0


@dataclass(frozen=True)
class ConnectWorker:
    """A running worker."""

    bootstrap: str
    url: str

    def drain(
        self, topic: str, body: Mapping[str, Any], work: Path, is_complete: Callable[[], bool] = lambda: True
    ) -> Moved:
        """Run a sink to the end of a topic, its offsets committed; delete it once its target is complete too.

        Apache's Iceberg sink commits its offsets before its tables. The time until the offsets are committed counts.
        """
        file = work / f"{body['name']}.json"
        file.write_text(json.dumps(body))
        command: list[str | Path] = [sys.executable, PEER / "drain.py", self.bootstrap, topic, self.url, file]
        answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        end = time.monotonic() + _COMPLETE_SECONDS
        while not is_complete() and time.monotonic() < end:
            time.sleep(2)
        self._delete(body["name"])
        return Moved(answer["records"], answer["seconds"])

    def pour(self, body: Mapping[str, Any], records: int, written: Callable[[], int], seconds: float = 900) -> Moved:
        """Run a source until ``written`` records are there; then delete it. Raise TimeoutError."""
        began = time.monotonic()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}/connectors", json.dumps(body).encode(), headers)
        urllib.request.urlopen(request).close()
        while written() < records:
            if time.monotonic() - began > seconds:
                raise TimeoutError(f"{body['name']} has not written {records} records after {seconds:.0f} s")
            time.sleep(0.1)
        done = Moved(records, time.monotonic() - began)
        self._delete(body["name"])
        return done

    def _delete(self, name: str) -> None:
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/connectors/{name}", method="DELETE")).close()


def connector(file: str, values: Mapping[str, str], changes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a connector file of ``tests/peer`` with its places filled in and settings changed."""
    body: dict[str, Any] = json.loads(Template((PEER / file).read_text()).safe_substitute(values))
    body["config"] |= changes or {}
    return body


@contextmanager
def connect_worker(bootstrap: str, jars: Path, work: Path, plugins: Path | None = None) -> Iterator[ConnectWorker]:
    """Run one for the block; ``plugins``: another folder for its plugin.path."""
    port = free_port()
    values = {"BOOTSTRAP": bootstrap, "WORK": str(work), "PORT": str(port), "JARS": str(jars)}
    settings = Template((PEER / "worker.properties").read_text()).safe_substitute(values)
    if plugins is not None:
        settings = settings.replace(f"plugin.path={jars}/plugins", f"plugin.path={jars}/plugins,{plugins}")
    worker = work / "worker.properties"
    worker.write_text(settings)
    main_class = "org.apache.kafka.connect.cli.ConnectStandalone"
    command = ["java", "-Xmx3g", "-cp", f"{jars}/runtime/*", main_class, str(worker)]
    with (work / "peer.log").open("w") as log:
        peer = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        await_plugins(url)
        yield ConnectWorker(bootstrap, url)
    finally:
        peer.terminate()
        try:
            peer.wait(30)
        except subprocess.TimeoutExpired:  # the figures are taken: a worker that ends slowly does not cost them
            peer.kill()
            peer.wait()


def fetch_jars(jars: Path) -> Path:
    """Fetch the peers' jars unless they are there; those for S3 are the newest ones of them."""
    if not any((jars / "plugins" / "iceberg").glob("iceberg-aws-bundle-*.jar")):
        subprocess.run(["bash", PEER / "fetch.sh", jars], check=True)
    return jars


def await_plugins(url: str, seconds: float = 120) -> None:
    """Wait until a worker lists its plugins: it answers 404 before."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{url}/connector-plugins") as answer:
                if json.load(answer):
                    return
        except OSError:
            pass
        time.sleep(0.5)
    raise TimeoutError(f"no worker at {url} after {seconds} s")
