"""Workers of Apache Kafka Connect on a deployment's broker, their connectors, and commands as users run them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from connect_core.dev.jars import maven_jars
from tests.integration.topics import Topics
from tests.side_by_side.deployments import ApacheConnect

__all__ = [
    "SECRET",
    "connect",
    "connect_jars",
    "file_provider",
    "heartbeat",
    "kill_command_at",
    "missing_and_repeated",
    "sink",
    "source",
    "url_of",
]

FILE_SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
FILE_SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
TEXT = {
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
}
MIRROR = [f"org.apache.kafka:{name}:4.3.1" for name in ("connect-mirror", "connect-mirror-client")]
SECRET = "canary-of-a-switch"


def connect_jars(jars: Path, plugins: Mapping[str, Path] = MappingProxyType({})) -> Path:
    """Lay out a worker's jars in a new folder, with the file connectors, MirrorMaker and other plugins."""
    modules = (Path(__file__).parent / "connect_jars.txt").read_text().split()
    runtime = maven_jars("connect-worker-4.3.1", modules, print)
    folder = jars / "plugins" / "file"
    folder.mkdir(parents=True)
    (jars / "runtime").symlink_to(runtime)
    for name in ("connect-file-4.3.1.jar", "connect-transforms-4.3.1.jar"):
        shutil.copy(runtime / name, folder)
    shutil.copytree(maven_jars("connect-mirror-4.3.1", MIRROR, print), folder / "mirror")
    for name, plugin in plugins.items():
        (folder / name).symlink_to(plugin)
    return jars


def file_provider(folder: Path) -> dict[str, str]:
    """Write a file with a secret → a worker's settings for references to it."""
    (folder / "secrets.properties").write_text(f"password={SECRET}\n")
    return {
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
    }


def source(file: Path, topic: str, **more: str) -> dict[str, str]:
    return {"connector.class": FILE_SOURCE, "file": str(file), "topic": topic, **TEXT, **more}


def sink(topic: str, file: Path, **more: str) -> dict[str, str]:
    return {"connector.class": FILE_SINK, "topics": topic, "file": str(file), **TEXT, **more}


def heartbeat(broker: Topics) -> dict[str, str]:
    """Return a connector that has no plugin here."""
    servers = {f"{side}.cluster.bootstrap.servers": broker.bootstrap for side in ("source", "target")}
    aliases = {f"{side}.cluster.alias": side for side in ("source", "target")}
    name = "org.apache.kafka.connect.mirror.MirrorHeartbeatConnector"
    return {"connector.class": name, "heartbeats.topic.replication.factor": "1", **servers, **aliases}


def connect(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command as its user does."""
    command = [sys.executable, "-m", "connect_core.cli.app", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)


def url_of(there: ApacheConnect) -> str:
    return f"http://127.0.0.1:{there.port}"


def kill_command_at(line: str, *arguments: str) -> None:
    """Start the command and end it by SIGKILL as soon as it has printed a line."""
    command = [sys.executable, "-u", "-m", "connect_core.cli.app", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for printed in process.stdout:
            if line in printed:
                break
        process.kill()
        assert process.wait() == -9, "it was over before it was killed"


def missing_and_repeated(found: Counter[int], total: int) -> tuple[int, int]:
    return sum(number not in found for number in range(total)), sum(count - 1 for count in found.values())
