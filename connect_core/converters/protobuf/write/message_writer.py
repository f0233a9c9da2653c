"""Everything needed to write messages of one Connect schema: text, message class and values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from google.protobuf.message import EncodeError

from connect_core.api.data import Schema, SchemaType
from connect_core.api.data.schema import LOGICAL_CLASSES
from connect_core.converters.protobuf.config import ProtobufSettings
from connect_core.converters.protobuf.indexes import FIRST_MESSAGE
from connect_core.converters.protobuf.names import WRAPPED_TYPES, is_enum, is_union
from connect_core.converters.protobuf.schemas.descriptors import described, wrapper_messages
from connect_core.converters.protobuf.schemas.from_connect import define_file
from connect_core.converters.protobuf.schemas.messages import message_class
from connect_core.converters.protobuf.schemas.text import WRAPPERS_TEXT, proto_text
from connect_core.converters.protobuf.wire import UnlikeError
from connect_core.converters.protobuf.write.columns import Bodies, ColumnEncoder
from connect_core.converters.protobuf.write.values import Write, Writer
from connect_core.errors import DataError
from connect_core.schema_registry.model import SchemaKind, SchemaText

__all__ = ["MessageWriter", "writer_of"]


@dataclass(frozen=True, slots=True)
class MessageWriter:
    """Writes bodies of one schema: ``name`` is the message's full name, ``indexes`` its position in ``text``."""

    text: SchemaText
    name: str
    indexes: tuple[int, ...]
    message: Any
    fields: Write
    columns: Bodies | None
    """Converts columns to bodies, ``None`` if only records can be written."""

    def body(self, value: Any) -> bytes:
        """Return a message without its frame and indexes. Raise DataError for a value that does not fit."""
        try:
            found: bytes = self.message(**self.fields(value)).SerializeToString()
        except (TypeError, ValueError, EncodeError, OverflowError) as error:
            raise DataError(f"A value does not fit the Protobuf message {self.name}: {str(error)[:200]}") from error
        except RecursionError as error:
            raise DataError("A value is nested too deeply for Protobuf") from error
        return found


def writer_of(schema: Schema, settings: ProtobufSettings) -> MessageWriter:
    """Return the writer of a schema's values. Raise DataError for a schema that Protobuf cannot express."""
    if schema.type.is_primitive:
        return _of_wrapper(schema, settings)
    if schema.type is not SchemaType.STRUCT or is_union(schema):
        raise DataError(f"Unsupported root schema of type {schema.type}: Protobuf's messages are structs or scalars")
    file = define_file(schema, settings)
    messages = described(file)
    name = f"{file.package}.{file.message.name}".lstrip(".")
    text = SchemaText(SchemaKind.PROTOBUF, proto_text(file))
    descriptor = messages.named(name)
    write, columns = Writer(settings).struct(schema), _columns(descriptor, schema, settings)
    return MessageWriter(text, name, FIRST_MESSAGE, message_class(descriptor), write, columns)


def _columns(descriptor: Any, schema: Schema, settings: ProtobufSettings) -> Bodies | None:
    try:
        return ColumnEncoder(settings).root(descriptor, schema)
    except UnlikeError:
        return None


def _of_wrapper(schema: Schema, settings: ProtobufSettings) -> MessageWriter:
    types = {SchemaType.INT8: SchemaType.INT32, SchemaType.INT16: SchemaType.INT32}
    wanted = types.get(schema.type, schema.type)
    name = next(
        name for name, type in WRAPPED_TYPES.items() if type is wanted and not name.startswith("google.protobuf.UInt")
    )
    if is_enum(schema) or schema.name in LOGICAL_CLASSES:
        raise DataError(f"{schema} cannot be a top-level Protobuf message: put it in a struct")
    messages, write = wrapper_messages(), Writer(settings).value(schema.replace(optional=False))
    text = SchemaText(SchemaKind.PROTOBUF, WRAPPERS_TEXT)
    descriptor = messages.named(name)
    message, columns = message_class(descriptor), _columns(descriptor, schema, settings)
    return MessageWriter(text, name, messages.indexes_of(name), message, lambda value: {"value": write(value)}, columns)
