"""Connect schemas of Avro schemas. Confluent: ``AvroData.toConnectSchema``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from connect_core.api.data import STRING_SCHEMA, Schema, SchemaBuilder
from connect_core.converters.avro.config import AvroSettings
from connect_core.converters.avro.schemas import names
from connect_core.converters.avro.schemas.defaults import default_from_json
from connect_core.converters.avro.schemas.model import ABSENT, AvroKind, AvroType, Json, optional_of
from connect_core.converters.avro.schemas.scalar_kinds import scalar_builder
from connect_core.errors import DataError

__all__ = ["connect_schema"]


@dataclass(frozen=True, slots=True)
class _Place:
    """The traits that the context of a schema gives it: a field, or a union."""

    optional: bool = False
    default: Json = ABSENT
    doc: str | None = None
    version: int | None = None


def connect_schema(avro: AvroType, settings: AvroSettings, version: int | None = None) -> Schema | None:
    """Return the Connect schema, ``None`` for schemaless values.

    version: of the subject in the registry, for a schema without its own. Raise DataError.
    """
    if avro.kind is AvroKind.ANYTHING:
        return None
    return _Reader(settings).schema(avro, _Place(version=version))


class _Reader:
    """Translates one schema; parts that occur again are shared."""

    def __init__(self, settings: AvroSettings) -> None:
        self._settings = settings
        self._known: dict[tuple[AvroType, bool], Schema] = {}
        self._unions = count()

    def schema(self, avro: AvroType, place: _Place) -> Schema:
        plain = place == _Place(place.optional)
        known = self._known.get((avro, place.optional)) if plain else None
        if known is not None:
            return known
        member = self._member(avro)
        found = self._schema(avro, place) if member is None else self.schema(*self._inside(avro, member, place))
        if plain:
            self._known[avro, place.optional] = found
        return found

    def _member(self, avro: AvroType) -> AvroType | None:
        """Return the branch that represents a union."""
        places = optional_of(avro)
        if places is not None:
            return avro.branches[places[1]]
        single = avro.kind is AvroKind.UNION and len(avro.branches) == 1 and self._settings.flatten
        return avro.branches[0] if single else None

    def _inside(self, union: AvroType, member: AvroType, place: _Place) -> tuple[AvroType, _Place]:
        # As in Confluent's: an optional field has only the default in 'connect.default' (schema-registry's issue 1693).
        return member, place if len(union.branches) == 1 else replace(place, optional=True, default=ABSENT)

    def part(self, avro: AvroType) -> Schema | None:
        """Return the schema of an array's or a map's items."""
        return None if avro.kind is AvroKind.ANYTHING else self.schema(avro, _Place())

    def _schema(self, avro: AvroType, place: _Place) -> Schema:
        builder = scalar_builder(avro, self._settings)
        if builder is None:
            builder = self._nested(avro)
        self._describe(builder, avro, place)
        if place.optional:
            builder.optional()
        self._add_default(builder, avro, place)
        return builder.build()

    def _nested(self, avro: AvroType) -> SchemaBuilder:
        build = _BUILDERS.get(avro.kind)
        if build is None:
            what = "Standalone null schemas" if avro.kind is AvroKind.NULL else "Schemaless values as fields"
            raise DataError(f"{what} are not supported by this converter")
        return build(self, avro)

    def _describe(self, builder: SchemaBuilder, avro: AvroType, place: _Place) -> None:
        self._document(builder, avro, place)
        version = avro.props.get(names.CONNECT_VERSION, place.version)
        if version is not None:
            if not isinstance(version, int):
                raise DataError(f"Invalid Connect version found: {version}")
            if version >= 0:
                _set_once(builder.version, builder.draft.version, version, "versions")
        for name, value in _parameters(avro).items():
            builder.parameter(name, value)
        own = self._name(avro, builder.draft.name)
        if own is not None:
            _set_once(builder.name, builder.draft.name, own, "names")

    def _document(self, builder: SchemaBuilder, avro: AvroType, place: _Place) -> None:
        doc = avro.props.get(names.CONNECT_DOC)
        if self._settings.discard:
            doc = place.doc if place.doc is not None else avro.doc if avro.doc is not None else doc
        elif not self._settings.metadata:
            doc = None
        if doc is not None:
            builder.doc(str(doc))
        if avro.doc is not None and avro.kind is AvroKind.RECORD and self._settings.metadata:
            builder.parameter(names.RECORD_DOC, avro.doc)

    def _name(self, avro: AvroType, known: str | None) -> str | None:
        name = avro.props.get(names.CONNECT_NAME)
        if name is not None:
            if not isinstance(name, str):
                raise DataError(f"Invalid schema name: {name}")
            return None if names.is_default_name(name) else name
        if avro.name is None or names.is_default_name(avro.name) or known is not None:
            return None
        return avro.name

    def _add_default(self, builder: SchemaBuilder, avro: AvroType, place: _Place) -> None:
        kept = avro.props.get(names.CONNECT_DEFAULT)
        given = kept if place.default is ABSENT else place.default
        # Also for null, which no Connect schema has as its default: unions of several branches get here with it.
        if place.default is not ABSENT and kept is None and not self._settings.discard:
            builder.parameter(names.FIELD_DEFAULT, "true")
        if given is None:
            return
        builder.default_value(default_from_json(builder.draft, avro, given, self._settings))

    def array(self, avro: AvroType) -> SchemaBuilder:
        items = avro.part()
        if not names.is_map_entry(items):
            return SchemaBuilder.array_of(self.part(items))
        entry = {field.name: field.type for field in items.fields}
        if entry.keys() != {"key", "value"}:
            raise DataError(
                "Found map encoded as array of key-value pairs, but array elements do not match the expected format."
            )
        return SchemaBuilder.map_of(self.part(entry["key"]), self.part(entry["value"]))

    def map(self, avro: AvroType) -> SchemaBuilder:
        return SchemaBuilder.map_of(STRING_SCHEMA, self.part(avro.part()))

    def record(self, avro: AvroType) -> SchemaBuilder:
        builder = SchemaBuilder.struct()
        for field in avro.fields:
            if field.doc is not None and self._settings.metadata and not self._settings.discard:
                builder.parameter(names.FIELD_DOC + field.name, field.doc)
            doc = field.doc if self._settings.discard else None
            builder.field(field.name, self.schema(field.type, _Place(False, field.default, doc)))
        return builder

    def union(self, avro: AvroType) -> SchemaBuilder:
        general = self._settings.generalized
        name = f"{names.UNION_PREFIX}{next(self._unions)}" if general else names.UNION_NAME
        builder, known = SchemaBuilder.struct().name(name), set[str]()
        if general:
            builder.parameter(names.UNION_GENERALIZED, name)
        for place, branch in enumerate(avro.branches):
            if branch.kind is AvroKind.NULL:
                builder.optional()
                continue
            field = names.branch_name(branch, place, self._settings)
            if field in known:
                raise DataError("Multiple union schemas map to the Connect union field name")
            known.add(field)
            builder.field(field, self.schema(branch, _Place(True)))
        return builder


def _parameters(avro: AvroType) -> Mapping[str, str]:
    found = avro.props.get(names.CONNECT_PARAMETERS, {})
    if not isinstance(found, dict):
        raise DataError(f"Expected JSON object for schema parameters but found: {found}")
    bad = [value for value in found.values() if not isinstance(value, str)]
    if bad:
        raise DataError(f"Expected schema parameter values to be strings but found: {bad[0]}")
    return {**found, **{name: str(value) for name, value in avro.props.items() if name.startswith("avro")}}


def _set_once(setter: Callable[[Any], object], known: Any, value: Any, what: str) -> None:
    if known is not None and known != value:
        raise DataError(
            f"Mismatched {what}: {what[:-1]} already added to SchemaBuilder ({known}) differs from {what[:-1]} in "
            f"source schema ({value})"
        )
    if known is None:
        setter(value)


_BUILDERS: dict[AvroKind, Callable[[_Reader, AvroType], SchemaBuilder]] = {
    AvroKind.ARRAY: _Reader.array,
    AvroKind.MAP: _Reader.map,
    AvroKind.RECORD: _Reader.record,
    AvroKind.UNION: _Reader.union,
}
