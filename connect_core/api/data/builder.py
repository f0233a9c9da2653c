"""SchemaBuilder: build a Schema step by step, rejecting contradictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

from connect_core.api.data.schema import DraftSchema, Field, Schema, SchemaTraits, SchemaType
from connect_core.api.data.validation import normalize, validate_value
from connect_core.errors import DataError, SchemaBuilderError

__all__ = ["SchemaBuilder"]


class SchemaBuilder:
    """Collects the traits of a schema; each may be set once.

    Every setter returns the builder and raises SchemaBuilderError on a
    contradiction. A struct's default is a ``Struct`` made of this builder's ``draft``.
    Connect: ``SchemaBuilder``.
    """

    __slots__ = (
        "_default",
        "_doc",
        "_fields",
        "_key_schema",
        "_name",
        "_optional",
        "_origin",
        "_parameters",
        "_type",
        "_value_schema",
        "_version",
    )

    def __init__(self, type: SchemaType) -> None:
        if type is None:
            raise SchemaBuilderError("type cannot be null")
        self._type = type
        self._optional: bool | None = None
        self._default: Any = None
        self._name: str | None = None
        self._version: int | None = None
        self._doc: str | None = None
        self._parameters: dict[str, str] | None = None
        self._fields: dict[str, Field] = {}
        self._key_schema: Schema | None = None
        self._value_schema: Schema | None = None
        self._origin = object()

    def optional(self) -> SchemaBuilder:
        """Allow nulls."""
        self._check_unset("optional", self._optional, True)
        self._optional = True
        return self

    def required(self) -> SchemaBuilder:
        """Forbid nulls, which is the default."""
        self._check_unset("optional", self._optional, False)
        self._optional = False
        return self

    def default_value(self, value: Any) -> SchemaBuilder:
        """Set the value that replaces a null; it must fit the schema as it is so far."""
        self._check_unset("default", self._default, value)
        value = normalize(self.draft, value)
        try:
            validate_value(self.draft, value)
        except DataError as error:
            raise SchemaBuilderError("Invalid default value") from error
        self._default = value
        return self

    def name(self, name: str | None) -> SchemaBuilder:
        """Name the schema: a logical type, or the class of a struct."""
        self._check_unset("name", self._name, name)
        self._name = name
        return self

    def version(self, version: int | None) -> SchemaBuilder:
        """Set the version of the named schema."""
        self._check_unset("version", self._version, version)
        self._version = version
        return self

    def doc(self, doc: str | None) -> SchemaBuilder:
        """Set the description of the schema for human readers."""
        self._check_unset("doc", self._doc, doc)
        self._doc = doc
        return self

    def parameter(self, name: str, value: str) -> SchemaBuilder:
        """Add a parameter, or overwrite the one of this name."""
        self._parameters = {**(self._parameters or {}), name: value}
        return self

    def parameters(self, parameters: Mapping[str, str]) -> SchemaBuilder:
        """Add parameters; an empty mapping changes nothing."""
        if parameters:
            self._parameters = {**(self._parameters or {}), **parameters}
        return self

    def field(self, name: str, schema: Schema | SchemaBuilder) -> SchemaBuilder:
        """Append a field to a struct."""
        if self._type is not SchemaType.STRUCT:
            raise SchemaBuilderError(f"Cannot create fields on type {self._type}")
        if not name:
            raise SchemaBuilderError("fieldName cannot be null.")
        if schema is None:
            raise SchemaBuilderError(f"fieldSchema for field {name} cannot be null.")
        if name in self._fields:
            raise SchemaBuilderError(f"Cannot create field because of field name duplication {name}")
        self._fields[name] = Field(name, len(self._fields), _built(schema))
        return self

    @property
    def draft(self) -> Schema:
        """The schema as it is so far, without default; a default Struct is made of it."""
        return DraftSchema(self._type, self._origin, **self._traits())

    def build(self) -> Schema:
        """Return the schema; the builder may be used further."""
        traits = self._traits()
        traits["default"] = self._default
        return Schema(self._type, **traits)

    def _traits(self) -> SchemaTraits:
        return {
            "optional": bool(self._optional),
            "name": self._name,
            "version": self._version,
            "doc": self._doc,
            "parameters": self._parameters,
            "fields": tuple(self._fields.values()),
            "key_schema": self._key_schema,
            "value_schema": self._value_schema,
        }

    @staticmethod
    def _check_unset(what: str, present: Any, value: Any) -> None:
        if present is None or present is value:
            return
        # Connect compares references; equal scalars are mostly the same object in Java.
        if type(present) in (bool, int, str) and present == value:
            return
        raise SchemaBuilderError(f"Invalid SchemaBuilder call: {what} has already been set.")

    @classmethod
    def type(cls, type: SchemaType) -> SchemaBuilder:
        """Start a schema of any type."""
        return cls(type)

    @classmethod
    def int8(cls) -> SchemaBuilder:
        """Start an INT8 schema."""
        return cls(SchemaType.INT8)

    @classmethod
    def int16(cls) -> SchemaBuilder:
        """Start an INT16 schema."""
        return cls(SchemaType.INT16)

    @classmethod
    def int32(cls) -> SchemaBuilder:
        """Start an INT32 schema."""
        return cls(SchemaType.INT32)

    @classmethod
    def int64(cls) -> SchemaBuilder:
        """Start an INT64 schema."""
        return cls(SchemaType.INT64)

    @classmethod
    def float32(cls) -> SchemaBuilder:
        """Start a FLOAT32 schema."""
        return cls(SchemaType.FLOAT32)

    @classmethod
    def float64(cls) -> SchemaBuilder:
        """Start a FLOAT64 schema."""
        return cls(SchemaType.FLOAT64)

    @classmethod
    def boolean(cls) -> SchemaBuilder:
        """Start a BOOLEAN schema."""
        return cls(SchemaType.BOOLEAN)

    @classmethod
    def string(cls) -> SchemaBuilder:
        """Start a STRING schema."""
        return cls(SchemaType.STRING)

    @classmethod
    def bytes(cls) -> SchemaBuilder:
        """Start a BYTES schema."""
        return cls(SchemaType.BYTES)

    @classmethod
    def struct(cls) -> SchemaBuilder:
        """Start a STRUCT schema without fields."""
        return cls(SchemaType.STRUCT)

    @classmethod
    def array(cls, value_schema: Schema | SchemaBuilder | None) -> SchemaBuilder:
        """Start an ARRAY schema with this element schema."""
        if value_schema is None:
            raise SchemaBuilderError("valueSchema cannot be null.")
        return cls.array_of(value_schema)

    @classmethod
    def map(
        cls, key_schema: Schema | SchemaBuilder | None, value_schema: Schema | SchemaBuilder | None
    ) -> SchemaBuilder:
        """Start a MAP schema with these key and value schemas."""
        if key_schema is None:
            raise SchemaBuilderError("keySchema cannot be null.")
        if value_schema is None:
            raise SchemaBuilderError("valueSchema cannot be null.")
        return cls.map_of(key_schema, value_schema)

    @classmethod
    def array_of(cls, value_schema: Schema | SchemaBuilder | None) -> SchemaBuilder:
        """Start an ARRAY schema whose element schema may be unknown."""
        builder = cls(SchemaType.ARRAY)
        builder._value_schema = _built(value_schema)
        return builder

    @classmethod
    def map_of(
        cls, key_schema: Schema | SchemaBuilder | None, value_schema: Schema | SchemaBuilder | None
    ) -> SchemaBuilder:
        """Start a MAP schema whose key or value schema may be unknown."""
        builder = cls(SchemaType.MAP)
        builder._key_schema, builder._value_schema = _built(key_schema), _built(value_schema)
        return builder


@overload
def _built(schema: Schema | SchemaBuilder) -> Schema: ...
@overload
def _built(schema: None) -> None: ...
def _built(schema: Schema | SchemaBuilder | None) -> Schema | None:
    return schema.build() if isinstance(schema, SchemaBuilder) else schema
