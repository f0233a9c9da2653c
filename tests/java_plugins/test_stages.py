"""Java transforms, predicates and converters among parts that are not Java's."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from connect_core.api.batch import Batch, Columns, Objects
from connect_core.api.data import STRING_SCHEMA
from connect_core.api.records import ConnectRecord, SourceRecord
from connect_core.api.transform import ChosenPlugin
from connect_core.configs.stages import TransformationStage
from connect_core.errors import ConfigError, ConnectError, DataError, RetriableError
from connect_core.java_host.errors import HostTimeoutError
from connect_core.java_plugins.hosts import SharedHost
from connect_core.java_plugins.plugins import JavaPlugins
from connect_core.java_plugins.stages import JavaConverter
from connect_core.task.flow import gathered
from connect_core.task.pipeline import Pipeline
from connect_core.task.tolerance import Tolerance, ToleranceSettings
from connect_core.transforms.insert_header import InsertHeader
from tests.java_plugins.equipment import loaded

pytestmark = pytest.mark.slow


def records(*values: Any) -> list[ConnectRecord]:
    return [
        SourceRecord("t", 1, STRING_SCHEMA, "k", STRING_SCHEMA, value, 7, source_partition={}, source_offset={})
        for value in values
    ]


def shout(plugins: JavaPlugins, predicate: Any = None, negate: bool = False, /, **settings: str) -> TransformationStage:
    made = loaded(plugins, "testing.Shout", "transformation")()
    made.configure(settings)
    guard = ChosenPlugin("testing.Shout$Begins", {"with": "b"}) if predicate is not None else None
    return TransformationStage(made, predicate, negate, ChosenPlugin("testing.Shout", settings), guard)


def begins(plugins: JavaPlugins) -> Any:
    made = loaded(plugins, "testing.Shout$Begins", "predicate")()
    made.configure({"with": "b"})
    return made


def inserting() -> TransformationStage:
    made = InsertHeader()
    made.configure({"header": "h", "value.literal": "1"})
    return TransformationStage(made)


def test_a_batch_crosses_to_the_transform(plugins: JavaPlugins) -> None:
    stage = shout(plugins, dropped="b")
    changed = stage.transformation.apply_batch(Batch.from_records(records("a", "b", "c")))
    assert changed is not None
    assert isinstance(changed.value, Columns)
    assert changed.value.array.to_pylist() == ["A", "C"]
    assert changed.origin.to_pylist() == [0, 2]
    assert changed.positions is not None
    assert [record.timestamp for record in changed.to_records()] == [7, 7]
    stage.transformation.close()


def test_one_record_crosses_too(plugins: JavaPlugins) -> None:
    stage = shout(plugins, refused="x", dropped="b")
    (record,) = records("a")
    changed = stage.transformation.apply(record)
    assert changed is not None
    assert changed.value == "A"
    (dropped,) = records("b")
    assert stage.transformation.apply(dropped) is None
    (refused,) = records("x")
    with pytest.raises(DataError, match="refused: x"):
        stage.transformation.apply(refused)
    stage.transformation.close()


def test_neighbours_become_one(plugins: JavaPlugins) -> None:
    stages = gathered([shout(plugins), shout(plugins, begins(plugins)), inserting(), shout(plugins)])
    assert [type(one.transformation).__name__ for one in stages] == ["Shout", "InsertHeader", "Shout"]
    pipeline = Pipeline(stages, Tolerance(ToleranceSettings()))
    done = pipeline.apply(Batch.from_records(records("a", "b")))
    assert done.value.to_objects().values == ["A", "B"]
    assert done.headers is not None
    pipeline.close()


def test_a_bad_record_is_skipped_by_itself(plugins: JavaPlugins) -> None:
    tolerance = Tolerance(ToleranceSettings(tolerate_all=True))
    pipeline = Pipeline([shout(plugins, refused="b")], tolerance)
    done = pipeline.apply(Batch.from_records(records("a", "b", "c")))
    assert (done.value.to_objects().values, tolerance.skipped) == (["A", "C"], 1)
    pipeline.close()


def kill(stage: TransformationStage) -> None:
    lane = stage.transformation._lane  # type: ignore[attr-defined]
    os.kill(lane.lane.host.process.pid, signal.SIGKILL)


def test_a_killed_process_is_started_again_and_no_record_is_skipped(plugins: JavaPlugins) -> None:
    tolerance = Tolerance(ToleranceSettings(tolerate_all=True))
    stage = shout(plugins, refused="b")
    pipeline = Pipeline([stage], tolerance)
    assert pipeline.apply(Batch.from_records(records("a"))).value.to_objects().values == ["A"]
    kill(stage)
    assert pipeline.apply(Batch.from_records(records("a", "c"))).value.to_objects().values == ["A", "C"]
    assert tolerance.skipped == 0
    assert pipeline.apply(Batch.from_records(records("a", "b", "c"))).value.to_objects().values == ["A", "C"]
    assert tolerance.skipped == 1
    pipeline.close()


def test_no_record_is_skipped_because_java_does_not_answer(
    plugins: JavaPlugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    tolerance = Tolerance(ToleranceSettings(tolerate_all=True))
    pipeline = Pipeline([shout(plugins)], tolerance)

    def start(*_: object) -> None:
        raise HostTimeoutError("Java stages did not answer host.hello within 60 s")

    monkeypatch.setattr(SharedHost, "open", start)
    with pytest.raises(RetriableError, match=r"within 60 s.*not skipped, regardless of errors.tolerance"):
        pipeline.apply(Batch.from_records(records("a")))
    assert tolerance.skipped == 0
    pipeline.close()


def test_no_record_is_skipped_because_a_transform_does_not_start(plugins: JavaPlugins) -> None:
    tolerance = Tolerance(ToleranceSettings(tolerate_all=True))
    pipeline = Pipeline([shout(plugins, bad="1")], tolerance)
    with pytest.raises(ConnectError, match=r"testing.Shout did not start: .*bad settings"):
        pipeline.apply(Batch.from_records(records("a", "b")))
    assert tolerance.skipped == 0
    pipeline.close()


@pytest.mark.parametrize(("negate", "wanted"), [(False, ["a", "B"]), (True, ["A", "b"])])
def test_a_java_predicate_guards_a_transform(plugins: JavaPlugins, negate: bool, wanted: list[str]) -> None:
    guard = begins(plugins)
    assert guard.test_batch(Batch.from_records(records("a", "b"))).to_pylist() == [False, True]
    (stage,) = gathered([shout(plugins, guard, negate)])
    changed = Pipeline([stage], Tolerance(ToleranceSettings())).apply(Batch.from_records(records("a", "b")))
    assert changed.value.to_objects().values == wanted
    stage.transformation.close()
    guard.close()


@pytest.fixture
def converter(plugins: JavaPlugins) -> Any:
    made = loaded(plugins, "testing.ReversingConverter", "converter")()
    made.configure({}, False)
    return made


def test_a_converter_takes_whole_batches(converter: JavaConverter) -> None:
    topic = pa.array(["t", "t", "t"])
    data = Columns(STRING_SCHEMA, pa.array(["abc", None, ""]))
    written = converter.from_connect_batch(topic, data)
    assert written is not None
    assert written.to_pylist() == [b"cba", None, b""]
    back = converter.to_connect_batch(topic, pa.array([b"cba", None, b"x"], pa.binary()))
    assert back is not None
    assert back.to_objects().values == ["abc", None, "x"]
    converter.close()


def test_a_converter_says_which_value_is_bad(converter: JavaConverter) -> None:
    topic = pa.array(["t", "t"])
    assert converter.from_connect_batch(topic, Objects([STRING_SCHEMA] * 2, ["a", "bad"])) is None
    assert converter.from_connect_data("t", STRING_SCHEMA, "ab") == b"ba"
    with pytest.raises(DataError, match="bad value"):
        converter.from_connect_data("t", STRING_SCHEMA, "bad")
    with pytest.raises(DataError, match="bad bytes"):
        converter.to_connect_data("t", b"dab")
    assert converter.to_connect_data("t", b"ba").value == "ab"
    converter.close()


def test_a_header_converter_takes_one_header(plugins: JavaPlugins) -> None:
    made = loaded(plugins, "testing.ReversingConverter", "header_converter")()
    made.configure({})
    assert made.from_connect_header("t", "h", STRING_SCHEMA, "ab") == b"ba"
    assert made.to_connect_header("t", "h", b"ba").value == "ab"
    made.close()


def test_settings_are_checked_by_the_plugin(plugins: JavaPlugins) -> None:
    definition = loaded(plugins, "testing.Shout", "transformation")().config()
    assert definition.parse({"volume": "7"})["volume"] == 7
    with pytest.raises(ConfigError, match="Value must be no more than 11"):
        definition.parse({"volume": "12"})


def test_settings_that_the_plugin_refuses_are_told_at_once(plugins: JavaPlugins) -> None:
    settings: Mapping[str, str] = {"bad": "1"}
    stage = shout(plugins, **settings)
    with pytest.raises(ConnectError, match="bad settings"):
        stage.transformation.apply(records("a")[0])
