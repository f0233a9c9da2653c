"""A Java plugin of our own, which misbehaves when it is asked to, built from its sources."""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from connect_core.api.batch import Batch
from connect_core.api.connector import WorkerLimits
from connect_core.api.flow import Flow, Prepared
from connect_core.api.source import SourceTask
from connect_core.api.transform import ChosenPlugin
from connect_core.configs.stages import TransformationStage
from connect_core.converters.simple_header import SimpleHeaderConverter
from connect_core.converters.string import StringConverter
from connect_core.dev.java import find_java
from connect_core.dev.java_runtime import compiler, java_runtime
from connect_core.java_host.host import JavaHost
from connect_core.java_host.jar import HOST_JAR
from connect_core.java_host.process import HostProcess
from connect_core.java_host.settings import HostSettings
from connect_core.java_plugins.connectors import JavaConnector
from connect_core.java_plugins.plugins import JavaPlugins
from connect_core.java_plugins.registration import JavaPluginSource
from connect_core.java_plugins.source import JavaSourceTask
from connect_core.settings.user_cache import user_cache
from connect_core.task.contexts import Transactions
from connect_core.transforms.insert_header import InsertHeader

__all__ = [
    "CONFIG",
    "SOURCE",
    "TaskContext",
    "flow",
    "host_settings",
    "java_plugins",
    "loaded",
    "next_batch",
    "polls_nothing",
    "process_of",
    "shouting",
    "silent",
    "started",
    "test_plugin",
]

SOURCE = Path(__file__).parent / "plugin"
CONFIG = {
    "name": "count",
    "topic": "t",
    "task": "0",
    "limit": "6",
    "batch": "3",
    "task.class": "testing.CountingSource$CountingTask",
}
"""A task of the source that counts."""
_SERVICES = {
    "org.apache.kafka.connect.source.SourceConnector": ["testing.CountingSource", "io.debezium.testing.SnapshotSource"],
    "org.apache.kafka.connect.sink.SinkConnector": ["testing.ListingSink"],
    "org.apache.kafka.connect.transforms.Transformation": ["testing.Shout"],
    "org.apache.kafka.connect.transforms.predicates.Predicate": ["testing.Shout$Begins"],
    "org.apache.kafka.connect.storage.Converter": ["testing.ReversingConverter"],
    "org.apache.kafka.connect.storage.HeaderConverter": ["testing.ReversingConverter"],
}
_NOTICE = "#\n# As a licence often is.\n#\n"
"""Where service files begin with one, it has lines of nothing but the sign."""


def silent(line: str) -> None:
    """Take a line of progress."""


def test_plugin() -> Path:
    """Return a folder for ``plugin.path`` with the plugin in it; it is compiled when its sources have changed."""
    sources = sorted(SOURCE.rglob("*.java"))
    content = [*(file.read_bytes() for file in sources), repr((_NOTICE, _SERVICES)).encode()]
    digest = hashlib.sha256(b"".join(content)).hexdigest()[:16]
    folder = user_cache() / f"test-plugin-of-two-jars-{digest}"
    jar = folder / "testing" / "testing.jar"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not jar.exists():
            _build(jar)
    return folder


test_plugin.__test__ = False  # type: ignore[attr-defined]


def _build(jar: Path) -> None:
    jar.parent.mkdir(exist_ok=True)
    libs = ":".join(map(str, sorted(java_runtime(silent).glob("*.jar"))))
    with TemporaryDirectory() as classes:
        command = [str(find_java()), "-jar", str(compiler(silent)), "-17", "-nowarn", "-d", classes, "-cp", libs]
        subprocess.run([*command, str(SOURCE)], check=True)
        # As most plugins are several jars: its service files are in one, its classes in the other.
        with zipfile.ZipFile(jar.with_name("services.jar"), "w") as archive:
            for interface, names in _SERVICES.items():
                archive.writestr(f"META-INF/services/{interface}", _NOTICE + "\n".join(names))
        draft = jar.with_suffix(".draft")
        with zipfile.ZipFile(draft, "w") as archive:
            for file in Path(classes).rglob("*.class"):
                archive.write(file, str(file.relative_to(classes)))
    draft.replace(jar)


def host_settings(heap: str = "128m") -> HostSettings:
    """Return the settings of a host that has this plugin."""
    return HostSettings(java_runtime(silent), (str(test_plugin()),), "service_load", heap, quick_start())


@cache
def quick_start() -> tuple[str, ...]:
    """Return the options of a Java process that lives for one test: they take two thirds of its processor time away."""
    folder, java = test_plugin(), find_java().resolve()
    digest = hashlib.sha256(HOST_JAR.read_bytes() + f"{java} {java.stat().st_mtime_ns}".encode()).hexdigest()[:16]
    file = folder / f"classes-{digest}.jsa"
    with (folder / "archive.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            _archive(file)
    return ("-XX:TieredStopAtLevel=1", f"-XX:SharedArchiveFile={file}", "-Xshare:auto", "-Xlog:cds*=off")


def _archive(file: Path) -> None:
    """Let Java write down the classes that a host loads (JEP 350)."""
    draft = file.with_suffix(".draft")
    options = (f"-XX:ArchiveClassesAtExit={draft}", "-Xlog:cds*=off")
    settings = HostSettings(java_runtime(silent), (str(test_plugin()),), "service_load", "128m", options)
    host = JavaHost.start(settings, "archive")
    host.open("catalog", {}).call("catalog.plugins", seconds=120)
    host.close(120)
    draft.replace(file)


def java_plugins(heap: str = "128m") -> JavaPlugins:
    """Return the plugins of a worker whose ``plugin.path`` is this plugin's folder."""
    return JavaPlugins(host_settings(heap), idle_seconds=2.0)


def loaded(plugins: JavaPlugins, name: str, type: str) -> Any:
    """Return the class that stands for a Java class."""
    (found,) = (one for one in JavaPluginSource(plugins).plugins() if (one.name, one.type) == (name, type))
    return found.load()


def flow(*stages: TransformationStage, converter: str = "org.apache.kafka.connect.storage.StringConverter") -> Flow:
    """Return a flow with a converter for keys and values."""
    header = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
    key, value, headers = StringConverter(), StringConverter(), SimpleHeaderConverter()
    key.configure({}, True)
    value.configure({}, False)
    headers.configure({})
    chosen = ChosenPlugin(converter)
    return Flow(stages, key, value, headers, chosen, chosen, ChosenPlugin(header))


def shouting(**settings: str) -> TransformationStage:
    """Return the transform of this plugin as a stage."""
    made = InsertHeader()
    return TransformationStage(made, chosen=ChosenPlugin("testing.Shout", settings))


@dataclass
class TaskContext:
    """A source task's context."""

    configs: Mapping[str, str] = field(default_factory=dict)
    source_offsets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    transaction_context: Transactions | None = None
    limits: WorkerLimits = field(default_factory=WorkerLimits)


@contextmanager
def started(task: SourceTask, config: Mapping[str, str], flow: Flow, context: TaskContext) -> Iterator[Flow]:
    """Take over a flow and start a task → what is left of the flow; at the end stop and release it."""
    left = task.take_over(flow)
    task.initialize(context)  # type: ignore[arg-type]
    try:
        task.start(config)
        yield left
    finally:
        task.stop()
        task.release()


def next_batch(task: SourceTask, seconds: float = 20.0) -> Prepared:
    """Poll until there is something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = task.poll_batch()
        if isinstance(found, Prepared):
            return found
    raise AssertionError("nothing came")


def polls_nothing(task: SourceTask) -> bool:
    """Whether a poll returns a batch without records."""
    found = task.poll_batch()
    assert isinstance(found, Batch)
    return not len(found)


def process_of(held: JavaSourceTask | JavaConnector) -> HostProcess:
    """Return the Java process of a task or connector that has one."""
    assert held._host is not None
    return held._host.process
