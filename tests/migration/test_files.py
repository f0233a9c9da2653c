"""Connectors in files: every form a team may have them in, and what is wrong with one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from connect_core.errors import ConfigError
from connect_core.migration.definitions import Definition, chosen
from connect_core.migration.files import read_definitions
from connect_core.migration.manifests import confluent_manifest, read_manifests, strimzi_manifest

STRIMZI = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data: {class: no connector}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata:
  name: orders
  labels: {strimzi.io/cluster: live}
spec:
  class: FileStreamSource
  tasksMax: 2
  state: paused
  autoRestart: {enabled: true}
  config:
    file: /data/lines.txt
    topic: orders
    batch.size: 0100
    version.shown: 1.10
    day: 2026-11-25
    flag: true
    word: yes
    secret: ${file:/secrets.properties:password}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata: {name: second}
spec: {class: FileStreamSink, pause: true, config: {topics: orders}}
"""
CONFLUENT = """\
apiVersion: platform.confluent.io/v1beta1
kind: Connector
metadata: {name: orders-sink, namespace: confluent}
spec:
  name: Orders_Sink
  class: FileStreamSink
  taskMax: 3
  configs: {topics: orders, file: /data/out.txt}
  restartPolicy: {type: OnFailure, maxRetry: 10}
  connectClusterRef: {name: connect}
"""


def test_strimzi_resources_keep_their_values_as_written() -> None:
    first, second = read_manifests(STRIMZI, "all.yaml")
    assert (first.name, first.state, first.is_state_kept) == ("orders", "PAUSED", True)
    assert first.config == {
        "connector.class": "FileStreamSource",
        "tasks.max": "2",
        "file": "/data/lines.txt",
        "topic": "orders",
        "batch.size": "0100",
        "version.shown": "1.10",
        "day": "2026-11-25",
        "flag": "true",
        # As kubectl, which stores YAML 1.1's booleans: the operator never sees the word.
        "word": "true",
        "secret": "${file:/secrets.properties:password}",
    }
    assert [note.split()[0] for note in first.notes] == ["autoRestart"]
    assert (second.name, second.state, second.config["topics"]) == ("second", "PAUSED", "orders")


def test_confluent_resource_may_name_its_connector() -> None:
    (one,) = read_manifests(CONFLUENT, "sink.yaml")
    assert (one.name, one.state, one.is_state_kept) == ("Orders_Sink", None, False)
    expected = {"connector.class": "FileStreamSink", "tasks.max": "3", "topics": "orders", "file": "/data/out.txt"}
    assert one.config == expected
    assert [note.split()[0] for note in one.notes] == ["restartPolicy", "connectClusterRef"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1", "Cannot read x.yaml: it is not YAML"),
        (STRIMZI.replace("state: paused", "state: asleep"), "spec.state.*in x.yaml.*write running, paused or stopped"),
        (STRIMZI.replace("file: /data/lines.txt", "file: [a, b]"), "file.*write a text, number or boolean"),
        (STRIMZI.replace("  name: orders\n", ""), "metadata.name.*give the connector's name"),
        (STRIMZI.replace("pause: true", "pause: perhaps"), "perhaps for configuration spec.pause.*true or false"),
        (
            STRIMZI.replace("day: 2026-11-25", "day:"),
            "None for configuration day: in x.yaml .*orders.*give the setting a",
        ),
        (STRIMZI.replace("day: 2026-11-25", "topic: twice"), "topic is given twice, line 21"),
        (STRIMZI.replace("2026-11-25", "{{ .Values.day }}"), "not YAML .*: render the chart first"),
        (STRIMZI.replace("KafkaConnector", "KafkaConector"), "kafka.strimzi.io/v1beta2 KafkaConector.*write KafkaConn"),
        (
            STRIMZI.replace("kafka.strimzi.io/", "kafka.strimzi/"),
            "kafka.strimzi/v1beta2 KafkaConnector for configuration",
        ),
        ("name: a\nconfig: {connector.class: X}\n", "configuration kind: in x.yaml, write it as KafkaConnector, or as"),
        ("kind: List\nitems: true\n---\n" + STRIMZI.replace("tasksMax: 2", "tasksMax: [2]"), "list for.* tasksMax"),
    ],
)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_manifests(text, "x.yaml")


@pytest.mark.parametrize(("word", "state"), [("yes", "PAUSED"), ("On", "PAUSED"), ("no", "RUNNING"), ("~", "RUNNING")])
def test_a_resource_is_paused_by_the_words_of_kubernetes(word: str, state: str) -> None:
    _, second = read_manifests(STRIMZI.replace("pause: true", f"pause: {word}"), "x.yaml")
    assert second.state == state


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("no", "false"),
        ("Off", "false"),
        ("N", "false"),
        ("ON", "true"),
        ("y", "true"),
        ("'no'", "no"),
        ('"on"', "on"),
        ("!!str yes", "yes"),
        ("yEs", "yEs"),
        ("|-\n      off", "off"),
        ("!!int 010", "010"),
        ("!!float 1.10", "1.10"),
        ("!!bool no", "false"),
        ("!!str 3", "3"),
    ],
)
def test_a_setting_means_what_kubernetes_makes_of_it(written: str, text: str) -> None:
    first, _ = read_manifests(STRIMZI.replace("day: 2026-11-25", f"day: {written}"), "x.yaml")
    assert first.config["day"] == text
    assert type(first.config["day"]) is str


@pytest.mark.parametrize("value", ["!!bool maybe", "!!timestamp maybe", "!!int [1]"])
def test_a_value_that_is_not_of_its_tag_is_no_yaml(value: str) -> None:
    with pytest.raises(ConfigError, match=r"Cannot read x\.yaml: it is not YAML"):
        read_manifests(STRIMZI.replace("day: 2026-11-25", f"day: {value}"), "x.yaml")


def test_a_connector_may_be_named_like_a_boolean() -> None:
    _, second = read_manifests(STRIMZI.replace("name: second", "name: on"), "x.yaml")
    assert second.name == "on"


def test_fields_of_a_resource_win_over_its_settings() -> None:
    first, _ = read_manifests(
        STRIMZI.replace("day:", "connector.class: Other\n    tasks.max: 9\n    name: x\n    day:"), "x"
    )
    assert (first.name, first.config["connector.class"], first.config["tasks.max"]) == (
        "orders",
        "FileStreamSource",
        "2",
    )
    assert "name" not in first.config


def test_a_connector_without_a_number_of_tasks_stays_so() -> None:
    config = {key: value for key, value in CONFIG.items() if key != "tasks.max"}
    (found,) = read_manifests(strimzi_manifest(Definition("orders", config), "live"), "x.yaml")
    assert found.config == config


def test_a_broken_file_is_not_quoted() -> None:
    with pytest.raises(ConfigError) as caught:
        read_manifests("password: hunter2\n  x: [", "x.yaml")
    assert "hunter2" not in str(caught.value)


CONFIG = {
    "connector.class": "FileStreamSource",
    "tasks.max": "2",
    "file": "/a b",
    "word": "yes",
    "number": "010",
    "text": 'two\nlines "and" quotes \\ ünd',
}


@pytest.mark.parametrize("write", [strimzi_manifest, confluent_manifest])
def test_resources_written_are_read_back(write: object) -> None:
    assert callable(write)
    (found,) = read_manifests(write(Definition("orders", CONFIG, "PAUSED"), "live"), "x.yaml")
    assert (found.name, dict(found.config)) == ("orders", CONFIG)


def test_a_name_that_is_no_resource_name_is_kept_by_confluent() -> None:
    text = confluent_manifest(Definition("Orders Sink_1", CONFIG), "live")
    (found,) = read_manifests(text, "x.yaml")
    assert found.name == "Orders Sink_1"
    assert "name: orders-sink-1" in text


def test_a_folder_is_read_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.json").write_text("{}")
    (tmp_path / "README.md").write_text("words")
    request = {"name": "a", "config": {"connector.class": "X", "tasks.max": 2}, "initial_state": "stopped"}
    (tmp_path / "a.json").write_text(json.dumps(request))
    (tmp_path / "bare.json").write_text(json.dumps({"connector.class": "X", "flag": True}))
    (tmp_path / "deep" / "c.properties").write_text("name=c\nconnector.class=X\n")
    answer = {"d": {"info": {"name": "d", "config": {"name": "d", "connector.class": "X"}, "tasks": []}}}
    (tmp_path / "deep" / "saved.json").write_text(json.dumps(answer))
    (tmp_path / "live.yml").write_text(STRIMZI)
    found = {one.name: one for one in read_definitions([tmp_path])}
    assert sorted(found) == ["a", "bare", "c", "d", "orders", "second"]
    assert found["a"].config == {"connector.class": "X", "tasks.max": "2"}
    assert found["a"].state == "STOPPED"
    assert found["bare"].config == {"connector.class": "X", "flag": "true"}
    assert [one.name for one in chosen(found.values(), "[ab]*")] == ["a", "bare"]


def test_numbers_of_json_keep_their_digits(tmp_path: Path) -> None:
    numbers = '{"connector.class": "X", "v": 1.10, "e": 1e3, "t": 1E-7, "big": %s}' % ("9" * 5000)
    (tmp_path / "bare.json").write_text(numbers)
    (tmp_path / "full.json").write_text(f'[{{"name": "full", "config": {numbers}}}]')
    for one in read_definitions([tmp_path]):
        assert one.config == {"connector.class": "X", "v": "1.10", "e": "1e3", "t": "1E-7", "big": "9" * 5000}


def test_numbers_that_json_has_not_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"connector.class": "X", "v": NaN}')
    with pytest.raises(ConfigError, match=r"a\.json contains NaN, which is not a JSON number"):
        read_definitions([tmp_path])


def test_one_name_in_two_files_is_refused(tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        (tmp_path / name).write_text(json.dumps({"name": "a", "config": {"connector.class": "X"}}))
    with pytest.raises(ConfigError, match=r"defined in .*one\.json and in .*two\.json"):
        read_definitions([tmp_path])


def test_a_file_of_another_kind_is_refused_where_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("")
    with pytest.raises(ConfigError, match=r"a\.toml is no \.json"):
        read_definitions([tmp_path / "a.toml"])
    with pytest.raises(ConfigError, match=r"Cannot read .*missing"):
        read_definitions([tmp_path / "missing"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"name": 5, "config": {"connector.class": "X"}}', "Invalid value 5 for configuration name: in .*as a string"),
        ('{"name": "a", "config": {"topic": null}}', "None for configuration topic: in .*give the setting a value"),
        ('{"name": "a", "config": {"topic": "x", "topic": "y"}}', "gives topic twice in one object: keep one of them"),
        ('{"name": "a", "config": {"topic": "\\ud800"}}', "configuration topic: in .*half of a surrogate pair"),
        ("[]", "defines no connector: give a folder with .json"),
    ],
)
def test_a_wrong_json_file_is_named_with_the_remedy(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_definitions([tmp_path])


def test_a_name_is_trimmed_and_nulls_of_a_saved_answer_are_not_given(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({" a ": {"info": {"config": {"connector.class": "X", "none": None}}}}))
    (found,) = read_definitions([tmp_path])
    assert (found.name, found.config) == ("a", {"connector.class": "X"})


def test_no_part_of_a_folder_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not read would be deleted by ``connect apply --prune``."""
    folder, elsewhere = tmp_path / "mine", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (elsewhere / "a.json").write_text(json.dumps({"name": "a", "config": {"connector.class": "X"}}))
    (folder / "linked").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(folder)
    assert [one.name for one in read_definitions([folder])] == ["a"]
    (folder / "gone.json").symlink_to(tmp_path / "nothing")
    with pytest.raises(ConfigError, match=r"Cannot read .*gone\.json: No such file"):
        read_definitions([folder])
    (folder / "gone.json").unlink()
    scan = os.scandir

    def refused(path: str) -> object:
        if str(path).endswith("linked"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(ConfigError, match=r"Cannot read .*linked: Permission denied\. Check its permissions"):
        read_definitions([folder])


@pytest.mark.parametrize(("state", "kept"), [("PAUSED", "PAUSED"), ("FAILED", "RUNNING"), (None, "RUNNING")])
def test_what_was_paused_when_an_answer_was_saved_is_not_started(tmp_path: Path, state: str | None, kept: str) -> None:
    status = {"name": "a", "connector": {"state": state}} if state else None
    answer = {"a": {"info": {"config": {"connector.class": "X"}}, "status": status}}
    (tmp_path / "a.json").write_text(json.dumps(answer))
    assert [one.state for one in read_definitions([tmp_path])] == [kept]
