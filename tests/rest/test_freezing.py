"""One small request must not take the process that answers it: every text below took minutes or hundreds of megabytes.

The test runner's time-out is what fails where an answer does not come.
"""

from __future__ import annotations

import resource
from dataclasses import replace

import pytest

from connect_core.configs import providers_of
from connect_core.rest import LoopbackAuthorizer
from tests.herder.harness import SINK, SOURCE, Harness, worker
from tests.rest.conftest import Client, app_of
from tests.rest.test_attacks import Serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

JAVA = "org.apache.kafka.connect.transforms"
LONG = 1_000_000
TOPIC = "a" * 200
DEAD = "errors.deadletterqueue.topic.name"
SINK_OF_ALL = {key: value for key, value in SINK.items() if key != "topics"}

BACKTRACKING = ("(a+)+b", "(a|a)*b", "(a|aa)+$b", "(?=(a+)+b)a*", r"((a+)+)\1b", "(?:a*)*(?<!x)b", "(a?){200}a{200}b")


def validated(call: Client, config: dict[str, str]) -> str:
    """Validate a configuration, and see that the server answers somebody else as well."""
    found = call("PUT", f"/connector-plugins/{config['connector.class']}/config/validate", {"name": "x", **config})
    assert found.status in (200, 400), found.text
    assert call("GET", "/connectors").status == 200
    return found.text


@pytest.mark.parametrize("pattern", BACKTRACKING)
def test_pattern_of_topics_is_matched_in_bounded_time(call: Client, pattern: str) -> None:
    validated(call, {**SINK_OF_ALL, "topics.regex": pattern, DEAD: TOPIC})


@pytest.mark.parametrize("pattern", [r"\pL" * 300, r"(?i)" + r"[\pL]" * 150, "(((a{1,900}){1,900}){1,900})"])
def test_pattern_that_grows_is_bounded(call: Client, pattern: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    validated(call, {**SINK_OF_ALL, "topics.regex": pattern, DEAD: TOPIC})
    router = {"transforms": "r", "transforms.r.type": f"{JAVA}.RegexRouter", "transforms.r.replacement": "x"}
    validated(call, {**SINK, **router, "transforms.r.regex": pattern})
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100_000, f"{grown} KiB"


def test_long_pattern_of_a_transform_is_refused(call: Client) -> None:
    router = {"transforms": "r", "transforms.r.type": f"{JAVA}.RegexRouter", "transforms.r.replacement": "x"}
    assert "longer than 10000 characters" in validated(call, {**SINK, **router, "transforms.r.regex": "a" * LONG})


@pytest.mark.parametrize("value", ["${" + ":" * LONG, "${env:" * (LONG // 6), "${a:b:" * (LONG // 6), "${" * LONG])
def test_references_are_read_in_one_pass(call: Client, value: str) -> None:
    validated(call, {**SINK, "file": value})


def test_references_do_not_multiply_what_they_stand_for(harness: Harness, serve: Serve) -> None:
    allowed = {"config.providers": "env", "config.providers.env.param.allowlist.pattern": "(BIG_?)+"}
    settings = worker(**allowed)
    harness.herder = replace(
        harness.herder, worker=settings, providers=providers_of(settings, {"BIG": "x" * 100_000, "BIG_": "y"})
    )
    call = serve(app_of(harness, LoopbackAuthorizer()))
    assert "longer than 1048576 characters" in validated(call, {**SINK, "file": "${env:BIG}" * 90_000})
    assert "more than 100 references" in validated(
        call,
        {**SINK, "file": "".join(f"${{other:{number}:x}}" for number in range(120))},
    )
    assert "allowlist.pattern" in validated(call, {**SINK, "file": f"${{env:{'BIG' * 30}!}}"})


@pytest.mark.parametrize(
    "config",
    [
        {"transforms": "a" + " " * LONG + "a"},
        {"connector.plugin.version": "[" + "1" * LONG},
        {
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "key.converter.plugin.version": "[" * LONG,
        },
        {"consumer.override.sasl.jaas.config": "a" * LONG},
        {"topics": "," * LONG},
        {"schedule": "P" + "1" * LONG},
        {"schedule": "* " * (LONG // 2)},
    ],
)
def test_long_values_are_read_in_one_pass(call: Client, config: dict[str, str]) -> None:
    call("PUT", "/connector-plugins/FileStreamSink/config/validate", {"name": "x", **SINK, **config})
    assert call("GET", "/connectors").status == 200


def test_jaas_entry_is_read_in_one_pass(harness: Harness, serve: Serve) -> None:
    harness.herder = replace(harness.herder, worker=worker(**{"connector.client.config.override.policy": "All"}))
    call = serve(app_of(harness, LoopbackAuthorizer()))
    entry = "org.apache.kafka.common.security.plain.PlainLoginModule required " + "a" * LONG
    live = {**SINK, "consumer.override.sasl.jaas.config": entry}
    validated(call, live)


def test_names_of_sources_topics_are_matched_in_bounded_time(call: Client) -> None:
    predicate = {"predicates": "p", "predicates.p.type": f"{JAVA}.predicates.TopicNameMatches"}
    validated(call, {**SOURCE, **predicate, "predicates.p.pattern": "(a+)+b"})
    groups = {
        "topic.creation.groups": "g",
        "topic.creation.g.include": "(a+)+b",
        "topic.creation.default.partitions": "1",
    }
    validated(call, {**SOURCE, **groups, "topic.creation.default.replication.factor": "1", "topic": TOPIC})
