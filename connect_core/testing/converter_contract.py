"""The contracts of converters and header converters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import pyarrow as pa

from connect_core.api.batch import Data, Objects
from connect_core.api.convert import BatchRowError, Converter, HeaderConverter
from connect_core.api.data import SchemaAndValue
from connect_core.errors import ConnectError, DataError
from connect_core.testing.comparing import facts
from connect_core.testing.plugin_contract import PluginContract
from connect_core.testing.samples import BAD_BYTES, sample_values

__all__ = ["ConverterContract", "HeaderConverterContract"]

Outcome: TypeAlias = Any
"""A result, or the ConnectError that was raised instead."""
_TOPIC = "t"


class _BytesContract(PluginContract):
    """The part both kinds share: values are converted to bytes and back."""

    bad: ClassVar[Sequence[bytes]] = BAD_BYTES
    """Bytes that may be invalid; reading them may raise DataError, but nothing else."""

    def values(self) -> Sequence[SchemaAndValue]:
        """Return values to try; those that the converter refuses with a DataError are left out."""
        return sample_values()

    def write(self, value: SchemaAndValue) -> Outcome:
        """Return the bytes of a value, or the error."""
        raise NotImplementedError

    def read(self, content: bytes | None) -> Outcome:
        """Return what bytes mean, or the error."""
        raise NotImplementedError

    def written(self) -> list[bytes | None]:
        """Return the bytes of every value that can be written."""
        outcomes = [self.write(value) for value in self.values()]
        return [one for one in outcomes if one is None or isinstance(one, bytes)]

    def test_writing_accepts_some_value(self) -> None:
        """The contract cannot check a converter that refuses every value."""
        assert any(one is not None for one in self.written()), (
            "no value was accepted: values() must return accepted ones"
        )

    def test_writing_refuses_with_a_connect_error(self) -> None:
        """The result is bytes, a null, or an error that ``errors.tolerance`` handles."""
        outcomes = [self.write(value) for value in self.values()]
        assert [one for one in outcomes if not (one is None or isinstance(one, bytes | ConnectError))] == []

    def test_writing_leaves_the_value_alone(self) -> None:
        """Values must not be mutated: the engine may need them again."""
        for value in self.values():
            before = facts(value.value)
            self.write(value)
            assert facts(value.value) == before

    def test_bytes_survive_a_round_trip(self) -> None:
        """What was written can be read, and writing it again gives the same bytes."""
        for content in self.written():
            meaning = self.read(content)
            assert isinstance(meaning, SchemaAndValue), f"{content!r} was written and cannot be read: {meaning!r}"
            again = self.write(meaning)
            assert again == content, f"{content!r} became {again!r} on its way through {meaning!r}"

    def test_null_means_null(self) -> None:
        """A Kafka null is read as a null value, with or without a schema, and a null value is written as one."""
        meaning = self.read(None)
        assert isinstance(meaning, SchemaAndValue)
        assert meaning.value is None
        assert self.write(SchemaAndValue(None, None)) is None

    def test_bad_bytes_are_data_errors(self) -> None:
        """Any bytes are read or refused with a DataError, never with another error."""
        for content in self.bad:
            meaning = self.read(content)
            assert isinstance(meaning, SchemaAndValue | DataError), f"{content[:40]!r} gave {meaning!r}"


class ConverterContract(_BytesContract):
    """Tests of a converter: ``class TestMine(ConverterContract): converter = Mine``."""

    converter: ClassVar[type[Converter]]
    is_key: ClassVar[bool] = False

    def plugin(self) -> type[Any]:
        """Return the class under test."""
        return self.converter

    def framework_config(self) -> Mapping[str, str]:
        """Return what the engine adds."""
        return {"converter.type": "key" if self.is_key else "value"}

    def write(self, value: SchemaAndValue) -> Outcome:
        """Return the bytes of a value, or the error."""
        one = self.configured(self.is_key)
        return _outcome(lambda: one.from_connect_data(_TOPIC, value.schema, value.value))

    def read(self, content: bytes | None) -> Outcome:
        """Return what bytes mean, or the error."""
        one = self.configured(self.is_key)
        return _outcome(lambda: one.to_connect_data(_TOPIC, content))

    def test_keys_and_values_can_be_configured(self) -> None:
        """The same settings work for keys and for values; close() works right after configure()."""
        for is_key in (True, False):
            self.configured(is_key).close()

    def test_missing_settings_are_refused(self) -> None:
        """configure({}) raises ConfigError where a setting is required."""
        self.refuses_nothing_given(self.is_key)

    def test_lanes_agree_in_reading(self) -> None:
        """to_connect_batch returns what to_connect_data returns, for each row of each batch."""
        good = self.written()
        batches: list[list[bytes | None]] = [good, [None, *good], [*good, *self.bad]]
        batches += [[one] for one in self.bad]
        for contents in (*batches, *([one] for one in good), *([one] * 3 for one in good)):
            data = _columns(self.configured(self.is_key).to_connect_batch, pa.array(contents, pa.binary()))
            if data is None:
                continue
            expected = [self.read(content) for content in contents]
            errors = [one for one in expected if isinstance(one, ConnectError)]
            assert errors == [], f"to_connect_batch() accepted what to_connect_data() refuses with {errors[0]!r}"
            objects = data.to_objects()
            found = [*map(SchemaAndValue, objects.schemas, objects.values)]
            assert list(map(_facts, found)) == list(map(_facts, expected))

    def test_lanes_agree_in_writing(self) -> None:
        """from_connect_batch returns what from_connect_data returns, for objects and for columns."""
        values = list(self.values())
        for some in (*([one] for one in values), *([one] * 3 for one in values), values):
            objects = Objects([one.schema for one in some], [one.value for one in some])
            both: tuple[Data | None, ...] = (objects, objects.to_columns())
            for data in (one for one in both if one is not None):
                found = _columns(self.configured(self.is_key).from_connect_batch, data)
                if found is not None:
                    assert found.to_pylist() == [self.write(value) for value in some]


class HeaderConverterContract(_BytesContract):
    """Tests of a header converter: ``class TestMine(HeaderConverterContract): converter = Mine``."""

    converter: ClassVar[type[HeaderConverter]]

    def plugin(self) -> type[Any]:
        """Return the class under test."""
        return self.converter

    def framework_config(self) -> Mapping[str, str]:
        """Return what the engine adds."""
        return {"converter.type": "header"}

    def write(self, value: SchemaAndValue) -> Outcome:
        """Return the bytes of a value, or the error."""
        one = self.configured()
        return _outcome(lambda: one.from_connect_header(_TOPIC, "name", value.schema, value.value))

    def read(self, content: bytes | None) -> Outcome:
        """Return what bytes mean, or the error."""
        one = self.configured()
        return _outcome(lambda: one.to_connect_header(_TOPIC, "name", content))


def _outcome(operation: Callable[[], Any]) -> Outcome:
    try:
        return operation()
    except ConnectError as error:
        return error


def _facts(meaning: SchemaAndValue) -> tuple[Any, Any]:
    return meaning.schema, facts(meaning.value, meaning.schema)


def _columns(convert: Callable[[pa.Array, Any], Any], rows: pa.BinaryArray | Data) -> Any:
    """Return the batch lane's result if the engine would use it; ``None`` if it would fall back to records."""
    try:
        return convert(_topics(len(rows)), rows)
    except (BatchRowError, DataError, pa.ArrowException):
        return None


def _topics(rows: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), pa.array([_TOPIC]))
