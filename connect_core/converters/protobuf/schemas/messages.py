"""Compiled schemas: the messages of a schema, by index and by name, in a separate descriptor pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from connect_core.converters.protobuf.schemas.compiler import ROOT
from connect_core.errors import DataError

__all__ = ["FieldFacts", "MessageSchema", "message_class"]

_META_NUMBER = 1088
_PROTO2 = ("", "proto2")


@dataclass(frozen=True, slots=True)
class FieldFacts:
    """Parts of a field's declaration that its descriptor does not contain, or not in all versions.

    has_optional: the label optional of proto3 or proto2; parameters: of ``confluent.field_meta``.
    """

    is_repeated: bool
    is_required: bool
    is_proto3_optional: bool
    has_optional: bool
    parameters: Mapping[str, str]


class MessageSchema:
    """Descriptors of a schema and of all its imports.

    Maps are plain repeated messages here, as in Confluent's converter: their
    entries stay in order, and are read like any other field.
    """

    def __init__(self, files: descriptor_pb2.FileDescriptorSet, root: str = ROOT) -> None:
        self._entries: set[str] = set()
        self._facts: dict[str, FieldFacts] = {}
        pool = descriptor_pool.DescriptorPool()
        try:
            for file in files.file:
                self._enter(file)
                pool.Add(file)
        except (TypeError, ValueError) as error:
            raise DataError(f"A Protobuf schema is invalid: {str(error)[:300]}") from error
        self._pool = pool
        self._declared = next(file for file in files.file if file.name == root)

    def _enter(self, file: descriptor_pb2.FileDescriptorProto) -> None:
        for name, message in _messages(file.package, file.message_type):
            if message.options.map_entry:
                message.options.ClearField("map_entry")
                self._entries.add(name)
            for field in message.field:
                self._facts[f"{name}.{field.name}"] = _facts(field, file.syntax in _PROTO2)

    def at(self, indexes: tuple[int, ...]) -> Any:
        """Return the descriptor of a message by its indexes. Raise DataError if there is none."""
        messages, name = self._declared.message_type, self._declared.package
        for index in indexes:
            visible = [one for one in messages if f"{name}.{one.name}".lstrip(".") not in self._entries]
            if index >= len(visible):
                raise DataError(f"Invalid message indexes: {list(indexes)}")
            name = f"{name}.{visible[index].name}".lstrip(".")
            messages = visible[index].nested_type
        return self._pool.FindMessageTypeByName(name)

    def indexes_of(self, name: str) -> tuple[int, ...]:
        """Return the indexes of a message by its full name. Raise DataError if there is none."""
        package = self._declared.package
        local = name.removeprefix(f"{package}.") if package else name
        messages, path, indexes = self._declared.message_type, package, []
        for part in local.split("."):
            visible = [one for one in messages if f"{path}.{one.name}".lstrip(".") not in self._entries]
            index = next((place for place, one in enumerate(visible) if one.name == part), None)
            if index is None:
                raise DataError(f"The registered Protobuf schema has no message {name[:200]}")
            indexes.append(index)
            path = f"{path}.{part}".lstrip(".")
            messages = visible[index].nested_type
        return tuple(indexes)

    def named(self, name: str) -> Any:
        """Return the descriptor of a message by its full name. Raise DataError if there is none."""
        try:
            return self._pool.FindMessageTypeByName(name)
        except KeyError as error:
            raise DataError(f"The Protobuf schema has no message {name[:200]}") from error

    def facts(self, field: Any) -> FieldFacts:
        """Return the facts of a field's declaration."""
        return self._facts[field.full_name]

    def oneof_of(self, field: Any) -> Any | None:
        """Return the oneof of a field, ``None`` if it exists only because the field is optional."""
        return None if self.facts(field).is_proto3_optional else field.containing_oneof

    def oneofs(self, descriptor: Any) -> list[Any]:
        """Return a message's oneofs without those that exist only for optional fields."""
        return [one for one in descriptor.oneofs if not self.facts(one.fields[0]).is_proto3_optional]

    def parser(self, descriptor: Any) -> Callable[[bytes], Any]:
        """Return the function that parses a message; it raises DecodeError, or DataError without a required field."""
        parse: Callable[[bytes], Any] = message_class(descriptor).FromString
        if not self._has_required(descriptor):
            return parse

        def parse_whole(body: bytes) -> Any:
            message = parse(body)
            if not message.IsInitialized():
                missing = ", ".join(message.FindInitializationErrors())[:200]
                raise DataError(
                    f"A Protobuf message of {descriptor.full_name} lacks required fields: {missing}; its producer must "
                    "set them, or the schema must declare them as optional"
                )
            return message

        return parse_whole

    def _has_required(self, descriptor: Any) -> bool:
        """Whether a message, or one within it, has required fields, which the runtime does not check."""
        pending, seen = [descriptor], {descriptor.full_name}
        while pending:
            for one in pending.pop().fields:
                if self.facts(one).is_required:
                    return True
                inner = one.message_type
                if inner is not None and inner.full_name not in seen:
                    seen.add(inner.full_name)
                    pending.append(inner)
        return False

    def is_map(self, field: Any) -> bool:
        """Return whether a field's messages are the entries of a map, by their name and fields."""
        entry = field.message_type
        if not self.facts(field).is_repeated or entry is None or not entry.name.endswith("Entry"):
            return False
        names = [part.name for part in entry.fields]
        return names == ["key", "value"] and not any(self.facts(part).is_repeated for part in entry.fields)


def message_class(descriptor: Any) -> Any:
    """Return the class of a message."""
    return message_factory.GetMessageClass(descriptor)


def _messages(
    scope: str, messages: Iterable[descriptor_pb2.DescriptorProto]
) -> Iterator[tuple[str, descriptor_pb2.DescriptorProto]]:
    pending = [(scope, message) for message in messages]
    while pending:
        outer, message = pending.pop()
        name = f"{outer}.{message.name}".lstrip(".")
        yield name, message
        pending += [(name, nested) for nested in message.nested_type]


def _facts(field: descriptor_pb2.FieldDescriptorProto, is_proto2: bool) -> FieldFacts:
    repeated = field.label == field.LABEL_REPEATED
    keyword = is_proto2 and field.label == field.LABEL_OPTIONAL and not field.HasField("oneof_index")
    features = field.options.features
    required = field.label == field.LABEL_REQUIRED or features.field_presence == features.LEGACY_REQUIRED
    parameters = _parameters(field.options.SerializeToString()) if field.HasField("options") else {}
    return FieldFacts(repeated, required, field.proto3_optional, field.proto3_optional or keyword, parameters)


def _parameters(options: bytes) -> dict[str, str]:
    found = _options_class().FromString(options)
    return {entry.key: entry.value for entry in found.meta.params}


@cache
def _options_class() -> Any:
    """Return a class that parses only Confluent's parts of a field's options, so that no shared pool needs them."""
    file = descriptor_pb2.FileDescriptorProto(name="connect_core_options.proto", syntax="proto3")
    options = file.message_type.add(name="Options")
    meta = options.nested_type.add(name="Meta")
    entry = meta.nested_type.add(name="Parameter")
    text = descriptor_pb2.FieldDescriptorProto.TYPE_STRING
    entry.field.add(name="key", number=1, type=text, label=1)
    entry.field.add(name="value", number=2, type=text, label=1)
    meta.field.add(name="params", number=2, type=11, type_name=".Options.Meta.Parameter", label=3)
    options.field.add(name="meta", number=_META_NUMBER, type=11, type_name=".Options.Meta", label=1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_class(pool.FindMessageTypeByName("Options"))
