"""Java transforms, predicates and converters next to parts that are not Java's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from connect_core.api.batch import Batch, Columns, Objects
from connect_core.api.config import ConfigDef
from connect_core.api.convert import Converter, HeaderConverter
from connect_core.api.data import Schema, SchemaAndValue
from connect_core.api.records import ConnectRecord, Record
from connect_core.api.transform import ChosenPlugin, FlowStage, Predicate, Transformation
from connect_core.errors import ConnectError, ServiceError
from connect_core.java_host.columns import binary_buffers, read_binary, read_data, topic_numbers, write_data
from connect_core.java_host.errors import HostEndedError, PluginStartError, java_error
from connect_core.java_host.frames import Frame
from connect_core.java_host.schemas import SchemaNumbers
from connect_core.java_plugins.catalog import JavaClass
from connect_core.java_plugins.definitions import definition_of
from connect_core.java_plugins.flow import stage_spec
from connect_core.java_plugins.hosts import SharedLane
from connect_core.java_plugins.plugins import JavaPlugins
from connect_core.java_plugins.redaction import SecretTexts, secret_texts
from connect_core.java_plugins.rows import read_changed, write_batch

__all__ = ["JavaConverter", "JavaHeaderConverter", "JavaPredicate", "JavaTransformation"]

Json = Any


class _Part:
    """Base class: the settings, and a lane of the host that this process's stages share."""

    java: ClassVar[JavaClass]
    plugins: ClassVar[JavaPlugins]

    _lane: SharedLane | None = None
    _settings: Mapping[str, str | None]
    _texts: SecretTexts

    def config(self) -> ConfigDef:
        """Return the settings the plugin has described."""
        java, plugins = self.java, self.plugins

        def check(name: str, value: str | None) -> None:
            plugins.ask("catalog.check", {"class": java.name, "name": name, "value": value}, {name: value})

        return definition_of(java.settings, check)

    def _configured(self, configs: Mapping[str, Any]) -> None:
        self._settings = {key: None if value is None else str(value) for key, value in configs.items()}
        self._texts = secret_texts(self._settings)
        self._schemas = SchemaNumbers()

    def _spec(self) -> Json:
        return {"class": self.java.name, "config": self._settings}

    def _open(self) -> tuple[str, Json]:
        raise NotImplementedError

    def _call(self, op: str, frame: Frame) -> Frame:
        """Call the host; it is started at the first call, and again at the first one after its end.

        Raises what the plugin throws, and ServiceError if the plugin cannot be reached: no record is skipped for that.
        """
        lane = self._lane = self._lane or self._started()
        try:
            return lane.lane.call(op, frame.header, frame.buffers)
        except HostEndedError:
            self.close()
            raise

    def _started(self) -> SharedLane:
        try:
            return self.plugins.open_stage(*self._open(), self._texts)
        except ServiceError:
            raise
        except ConnectError as error:
            raise PluginStartError(f"{self.java.name} did not start: {error}") from error

    def close(self) -> None:
        """Release the lane."""
        if self._lane is not None:
            self._lane.close()
            self._lane = None
            # Another host has none of the schemas that were sent to this one.
            self._schemas = SchemaNumbers()


@dataclass(frozen=True, slots=True)
class _Stage:
    """A stage without a Python predicate: a Java one is in the host, with its transforms."""

    transformation: Transformation
    chosen: ChosenPlugin
    predicate: Predicate | None = None
    negate: bool = False
    chosen_predicate: ChosenPlugin | None = None


class JavaTransformation(_Part, Transformation):
    """A Java transform, or several Java stages in a row as one."""

    _stages: Sequence[Json] | None = None

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Store the settings; the plugin reads them when it is first used."""
        self._configured(configs)

    def gather(self, stages: Sequence[FlowStage]) -> tuple[FlowStage, int]:
        """Return this and the following Java stages as one stage: the batch crosses once."""
        count = 0
        while count < len(stages) and _is_java(stages[count]):
            count += 1
        if count == 0:
            return stages[0], 1
        made = type(self)()
        made._configured({})
        made._texts = self._texts
        made._stages = [stage_spec(stage) for stage in stages[:count]]
        return _Stage(made, stages[0].chosen), count

    def _open(self) -> tuple[str, Json]:
        return "chain", {"flow": {"stages": self._stages or [self._spec()]}}

    def apply(self, record: Record) -> Record | None:
        """Return one record as the plugin changes it. Raises what it throws, as a ConnectError."""
        batch = Batch.from_records([record])
        frame = self._call("chain.apply", write_batch(batch, self._schemas))
        for failure in frame.header["failures"]:
            raise java_error(failure["error"])
        changed: list[Any] = read_changed(frame, batch, self._schemas).to_records()
        return changed[0] if changed else None

    def apply_batch(self, batch: Batch) -> Batch | None:
        """Return a batch as the plugin changes it; ``None`` if a record fails: the record lane finds it."""
        frame = self._call("chain.apply", write_batch(batch, self._schemas))
        changed = read_changed(frame, batch, self._schemas)
        return None if frame.header["failures"] else changed


def _is_java(stage: FlowStage) -> bool:
    is_guarded_by_java = stage.predicate is None or isinstance(stage.predicate, JavaPredicate)
    return isinstance(stage.transformation, JavaTransformation) and is_guarded_by_java


class JavaPredicate(_Part, Predicate):
    """A Java predicate that guards a transform which is not Java's."""

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Store the settings."""
        self._configured(configs)

    def _open(self) -> tuple[str, Json]:
        return "chain", {"flow": {"stages": []}, "predicate": self._spec()}

    def test(self, record: ConnectRecord) -> bool:
        """Return whether the predicate holds. Raises what it throws."""
        return bool(self.test_batch(Batch.from_records([record]))[0].as_py())

    def test_batch(self, batch: Batch) -> pa.Array:
        """Return a boolean array. Raises what the predicate throws for any record."""
        frame = self._call("chain.test", write_batch(batch, self._schemas))
        return pa.array(np.frombuffer(frame.buffers[0], np.uint8, len(batch)) != 0)


class JavaConverter(_Part, Converter):
    """A Java converter of keys or values."""

    _is_key = False

    def configure(self, configs: Mapping[str, Any], is_key: bool) -> None:
        """Store the settings."""
        self._configured(configs)
        self._is_key = is_key

    def _open(self) -> tuple[str, Json]:
        return "converter", {"converter": self._spec(), "isKey": self._is_key}

    def from_connect_data(self, topic: str | None, schema: Schema | None, value: Any) -> bytes | None:
        """Return the bytes of one value. Raises what the plugin throws."""
        frame = self._write(pa.array([topic], pa.string()), Objects([schema], [value]))
        for failure in frame.header["failures"]:
            raise java_error(failure["error"])
        found: bytes | None = read_binary(1, frame.iterate())[0].as_py()
        return found

    def to_connect_data(self, topic: str | None, value: bytes | None) -> SchemaAndValue:
        """Return the Connect data of some bytes. Raises what the plugin throws."""
        frame = self._read(pa.array([topic], pa.string()), pa.array([value], pa.binary()))
        for failure in frame.header["failures"]:
            raise java_error(failure["error"])
        objects = read_data(frame.header["data"], 1, frame.iterate(), self._schemas).to_objects()
        return SchemaAndValue(objects.schemas[0], objects.values[0])

    def from_connect_batch(self, topic: pa.Array, data: Columns | Objects) -> pa.Array | None:
        """Return the bytes of all rows; ``None`` if a row fails."""
        frame = self._write(topic, data)
        return None if frame.header["failures"] else read_binary(len(topic), frame.iterate())

    def to_connect_batch(self, topic: pa.Array, values: pa.BinaryArray) -> Columns | Objects | None:
        """Return the data of all rows; ``None`` if a row fails."""
        frame = self._read(topic, values)
        found = read_data(frame.header["data"], len(topic), frame.iterate(), self._schemas)
        return None if frame.header["failures"] else found

    def _write(self, topic: pa.Array, data: Columns | Objects) -> Frame:
        frame = _topics(topic)
        frame.header["data"] = write_data(data, self._schemas, frame.buffers)
        self._schemas.attach(frame.header)
        return self._call("converter.write", frame)

    def _read(self, topic: pa.Array, values: pa.Array) -> Frame:
        frame = _topics(topic)
        frame.buffers += binary_buffers(values)
        answer = self._call("converter.read", frame)
        self._schemas.receive(answer.header)
        return answer


class JavaHeaderConverter(_Part, HeaderConverter):
    """A Java converter of headers; each header crosses separately."""

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Store the settings."""
        self._configured(configs)

    def _open(self) -> tuple[str, Json]:
        return "converter", {"converter": self._spec(), "header": True}

    def to_connect_header(self, topic: str | None, header_key: str, value: bytes | None) -> SchemaAndValue:
        """Return the Connect data of a header's bytes. Raises what the plugin throws."""
        frame = _topics(pa.array([topic], pa.string()))
        frame.header["name"] = header_key
        frame.buffers += binary_buffers(pa.array([value], pa.binary()))
        answer = self._call("converter.read", frame)
        self._schemas.receive(answer.header)
        for failure in answer.header["failures"]:
            raise java_error(failure["error"])
        objects = read_data(answer.header["data"], 1, answer.iterate(), self._schemas).to_objects()
        return SchemaAndValue(objects.schemas[0], objects.values[0])

    def from_connect_header(
        self, topic: str | None, header_key: str, schema: Schema | None, value: Any
    ) -> bytes | None:
        """Return the bytes of a header. Raises what the plugin throws."""
        frame = _topics(pa.array([topic], pa.string()))
        frame.header["name"] = header_key
        frame.header["data"] = write_data(Objects([schema], [value]), self._schemas, frame.buffers)
        self._schemas.attach(frame.header)
        answer = self._call("converter.write", frame)
        for failure in answer.header["failures"]:
            raise java_error(failure["error"])
        found: bytes | None = read_binary(1, answer.iterate())[0].as_py()
        return found


def _topics(topic: pa.Array) -> Frame:
    names, numbers = topic_numbers(topic)
    return Frame({"rows": len(topic), "topics": names}, [numbers])
