"""The scenarios: each acts over REST alone and returns what was seen, in a few words.

Apache Kafka: ``connect_distributed_test.py``, ``connect_test.py``, ``OffsetsApiIntegrationTest``,
``ErrorHandlingIntegrationTest``, ``ConnectorClientPolicyIntegrationTest``.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import orjson

from tests.side_by_side.deployments import Deployment, eventually

__all__ = ["SCENARIOS"]

_LINES = 3000
_SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
_SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
_BOTH = {"RUNNING"}


def file_source_and_sink(one: Deployment) -> str:
    """Lines go file → topic → file."""
    with _pair(one, "copy") as (source, sink, topic):
        _append(source, range(_LINES))
        return _tally(one, topic, sink, _LINES)


def pause_and_resume(one: Deployment) -> str:
    """A paused source moves nothing, a resumed one goes on where it was."""
    with _pair(one, "pause") as (source, sink, topic):
        _append(source, range(1000))
        _await_lines(sink, 1000)
        one.act("PUT", "pause-source", "/pause")
        states = one.await_states("pause-source", {"PAUSED"}, 2)
        _append(source, range(1000, 2000))
        time.sleep(5)
        moved = len(one.topics.read(topic)) - 1000
        one.act("PUT", "pause-source", "/resume")
        return f"{'/'.join(states)}, {moved} moved while paused; {_tally(one, topic, sink, 2000)}"


def pause_survives_a_bounce(one: Deployment) -> str:
    """Paused is paused after the worker has been away."""
    with _pair(one, "persist") as (source, sink, topic):
        _append(source, range(1000))
        _await_lines(sink, 1000)
        one.act("PUT", "persist-source", "/pause")
        one.await_states("persist-source", {"PAUSED"}, 2)
        one.bounce(is_clean=True)
        states = one.await_states("persist-source", {"PAUSED"}, 2)
        one.act("PUT", "persist-source", "/resume")
        _append(source, range(1000, 2000))
        return f"{'/'.join(states)}; {_tally(one, topic, sink, 2000)}"


def _bounce(one: Deployment, name: str, *, is_clean: bool) -> str:
    with _pair(one, name) as (source, sink, topic):
        stop, written = threading.Event(), [0]

        def write() -> None:
            while not stop.is_set():
                _append(source, range(written[0], written[0] + 50))
                written[0] += 50
                time.sleep(0.1)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(3):
                time.sleep(6)
                one.bounce(is_clean=is_clean)
            eventually(lambda: written[0], lambda lines: lines >= _LINES)
        finally:
            stop.set()
            writer.join()
        return _tally(one, topic, sink, written[0])


def bounce_clean(one: Deployment) -> str:
    """Three restarts in good order while lines are written."""
    return _bounce(one, "clean", is_clean=True)


def bounce_unclean(one: Deployment) -> str:
    """Three restarts by SIGKILL while lines are written."""
    return _bounce(one, "unclean", is_clean=False)


def offsets_of_a_running_connector(one: Deployment) -> str:
    """Altering offsets is refused while tasks, also of a zombie, may write; then the lines behind come again."""
    with _pair(one, "rewind") as (source, sink, topic):
        _append(source, range(1000))
        _await_lines(sink, 1000)
        part = {"filename": str(source)}
        change = {"offsets": [{"partition": part, "offset": {"position": source.stat().st_size // 2}}]}
        refused = one.act("PATCH", "rewind-source", "/offsets", change)
        one.act("PUT", "rewind-source", "/stop")
        eventually(lambda: one.states("rewind-source"), lambda found: found == ["STOPPED"])
        done = eventually(
            lambda: one.act("PATCH", "rewind-source", "/offsets", change), lambda status: status == 200, 60
        )
        one.act("PUT", "rewind-source", "/resume")
        wanted = 1500
        found = len(one.topics.read(topic, wanted, 120))
        return f"running {refused}, stopped {done}; {found - 1000} of 1000 lines again"


def failed_task_restarts(one: Deployment) -> str:
    """A poison record fails the task; what failed restarts by REST, and skips it when told to."""
    topic, sink = one.topics.create(1), one.folder / "poison.txt"
    one.topics.write(topic, [b'"good"', b"{poison", b'"better"'], 1)
    config = {**_sink(topic, sink), "errors.retry.timeout": "0"}
    one.put("poison", config)
    failed = eventually(lambda: one.states("poison"), lambda found: "FAILED" in found)
    trace = one.client.get("/connectors/poison/tasks/0/status").json().get("trace", "")
    restarted = one.act("POST", "poison", "/restart?includeTasks=true&onlyFailed=true")
    again = eventually(lambda: one.states("poison"), lambda found: "FAILED" in found)
    one.put("poison", {**config, "errors.tolerance": "all"})
    one.act("POST", "poison", "/restart?includeTasks=true&onlyFailed=true")
    lines = _await_lines(sink, 2)
    one.delete("poison")
    states = f"{'/'.join(failed)}, restart {restarted}, {'/'.join(again)}"
    return f"{states}; trace {'told' if trace else 'absent'}; then {len(lines)} of 2 lines"


def skip_and_log_to_dead_letters(one: Deployment) -> str:
    """A poison record goes to the dead letter topic, with its place in headers."""
    topic, sink, letters = one.topics.create(1), one.folder / "letters.txt", one.topics.create(1)
    one.topics.write(topic, [b'"good"', b"{poison", b'"better"'], 1)
    tolerant = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": letters,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    one.put("letters", {**_sink(topic, sink), **tolerant})
    lines = _await_lines(sink, 2)
    found = one.topics.read(letters, 1)
    one.delete("letters")
    return f"{len(lines)} of 2 lines, {len(found)} letter"


def override_policy(one: Deployment) -> str:
    """What a connector may set of its clients."""
    topic = one.topics.create(1)
    keys = ("consumer.override.max.poll.records", "consumer.override.sasl.jaas.config")
    statuses = []
    for number, key in enumerate(keys):
        name = f"override-{number}"
        statuses.append(one.put(name, {**_sink(topic, one.folder / f"{name}.txt"), key: "1"}).status_code)
        one.delete(name)
    return f"max.poll.records {statuses[0]}, sasl.jaas.config {statuses[1]}"


def failing_task_configs(one: Deployment) -> str:
    """A file that is not there is no failure for a source; an impossible tasks.max is refused."""
    topic = one.topics.create(1)
    config = {"connector.class": _SOURCE, "topic": topic, "file": str(one.folder / "nowhere.txt")}
    refused = one.put("impossible", {**config, "tasks.max": "0"}).status_code
    one.put("patient", config)
    states = one.await_states("patient", _BOTH, 2)
    one.delete("patient")
    return f"tasks.max=0 {refused}; without a file {'/'.join(states)}"


SCENARIOS: Mapping[str, Callable[[Deployment], str]] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            file_source_and_sink,
            pause_and_resume,
            pause_survives_a_bounce,
            bounce_clean,
            bounce_unclean,
            offsets_of_a_running_connector,
            failed_task_restarts,
            skip_and_log_to_dead_letters,
            override_policy,
            failing_task_configs,
        )
    }
)
"""Name → scenario."""


@contextmanager
def _pair(one: Deployment, name: str) -> Iterator[tuple[Path, Path, str]]:
    """Run a source and a sink for the block → its file, the sink's, and the topic between."""
    source, sink, topic = one.folder / f"{name}.in", one.folder / f"{name}.out", one.topics.create(1)
    source.touch()
    one.put(f"{name}-source", {"connector.class": _SOURCE, "topic": topic, "file": str(source)})
    one.put(f"{name}-sink", _sink(topic, sink))
    try:
        one.await_states(f"{name}-source", _BOTH, 2)
        one.await_states(f"{name}-sink", _BOTH, 2)
        yield source, sink, topic
    finally:
        one.delete(f"{name}-source")
        one.delete(f"{name}-sink")


def _sink(topic: str, file: Path) -> dict[str, str]:
    return {"connector.class": _SINK, "topics": topic, "file": str(file)}


def _append(file: Path, numbers: range) -> None:
    with file.open("a") as opened:
        opened.writelines(f"{number:012d}\n" for number in numbers)


def _await_lines(file: Path, at_least: int) -> list[str]:
    def read() -> list[str]:
        return file.read_text().splitlines() if file.exists() else []

    return list(eventually(read, lambda lines: len(lines) >= at_least))


def _tally(one: Deployment, topic: str, sink: Path, count: int) -> str:
    """Wait until all is through → what was lost and what came twice, in the topic and in the file."""
    wanted = {f"{number:012d}" for number in range(count)}

    def told(found: Counter[str]) -> str:
        return f"{len(wanted - set(found))} lost, {found.total() - len(found)} repeated"

    def in_topic() -> Counter[str]:
        return Counter(orjson.loads(value) for value in one.topics.read(topic) if value is not None)

    def in_file() -> Counter[str]:
        return Counter(sink.read_text().splitlines() if sink.exists() else ())

    moved = eventually(in_topic, lambda found: set(found) >= wanted, 240)
    exported = eventually(in_file, lambda found: set(found) >= wanted, 120)
    return f"{count} lines: topic {told(moved)}; file {told(exported)}"
