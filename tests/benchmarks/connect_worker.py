"""Apache Kafka Connect as a peer: a standalone worker whose sinks drain topics."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template

from tests.benchmarks.exporting import Export, Exported
from tests.integration.ports import free_port

__all__ = ["PEER", "ConnectWorker", "await_plugins", "connect_worker", "fetch_jars"]

PEER = Path(__file__).parents[1] / "peer"


@dataclass(frozen=True)
class ConnectWorker:
    """A running worker."""

    bootstrap: str
    url: str

    def drain(self, topic: str, name: str, work: Path, changes: Mapping[str, str] | None = None) -> Exported:
        """Run its Iceberg sink, with changed settings, to the end of a topic; then delete it."""
        work.mkdir()
        values = {"TOPIC": topic, "NAME": name, "WORK": str(work)}
        sink = json.loads(Template((PEER / "iceberg" / "sink.json").read_text()).safe_substitute(values))
        control = f"control-{name}"
        sink["config"] |= {"iceberg.control.topic": control, **(changes or {})}
        Export(self.bootstrap).create_topic(control, 1)
        file = work / "sink.json"
        file.write_text(json.dumps(sink))
        command: list[str | Path] = [sys.executable, PEER / "drain.py", self.bootstrap, topic, self.url, file]
        answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        request = urllib.request.Request(f"{self.url}/connectors/{name}", method="DELETE")
        urllib.request.urlopen(request).close()
        return Exported(answer["records"], answer["seconds"])


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
        peer.wait(30)


def fetch_jars(jars: Path) -> Path:
    """Fetch the peers' jars unless they are there."""
    if not (jars / "plugins" / "iceberg").exists():
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
