"""The settings that converters with a schema registry share, by Confluent's class names.

From ``AbstractKafkaSchemaSerDeConfig`` and ``SchemaRegistryClientConfig``; only ``schema.id.codec`` and
``schema.registry.request.timeout.ms`` are our own.
"""

from __future__ import annotations

from typing import Any

from connect_core.api.config import NO_DEFAULT, ConfigDef, ConfigKey, ConfigType, Importance, LambdaValidator, Range
from connect_core.errors import ConfigError
from connect_core.schema_registry.connection_keys import CONNECTION_KEYS, SSL, KeyRow

__all__ = ["REQUEST_HEADER", "define_registry"]

REQUEST_HEADER = "request.header."
_STRATEGY = "io.confluent.kafka.serializers.subject.TopicNameStrategy"
_ID_CLASSES = "io.confluent.kafka.serializers.schema.id."
_HIGH, _MEDIUM, _LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
_STRING, _BOOLEAN, _INT, _LONG = ConfigType.STRING, ConfigType.BOOLEAN, ConfigType.INT, ConfigType.LONG
_LIST = ConfigType.LIST
_COUNT = Range.at_least(0)


def _refuse(name: str, value: Any) -> None:
    if value:
        raise ConfigError(name, value, "it is not supported, and ignoring it would change what is written: remove it")


def _null_context(name: str, value: Any) -> None:
    if value and not str(value).endswith("NullContextNameStrategy"):
        raise ConfigError(
            name, value, "it is not supported: write the context in the URL, as in http://host/contexts/.name"
        )


def _form(*simple_names: str) -> LambdaValidator:
    """Return a validator of the classes, by their last part, that determine where a message names its schema."""

    def ensure(name: str, value: Any) -> None:
        if value and str(value).rpartition(".")[2] not in simple_names:
            raise ConfigError(name, value, f"there are: {', '.join(_ID_CLASSES + one for one in simple_names)}")

    return LambdaValidator(ensure, lambda: ", ".join(simple_names))


_REFUSED = LambdaValidator(_refuse, lambda: "not supported")
_NULL_CONTEXT = LambdaValidator(_null_context, lambda: "NullContextNameStrategy")
_SERIALIZERS = _form("PrefixSchemaIdSerializer", "HeaderSchemaIdSerializer")
_DESERIALIZERS = _form("DualSchemaIdDeserializer", "PrefixSchemaIdDeserializer")

_REGISTRY: tuple[KeyRow, ...] = (
    (
        "schema.registry.url",
        _LIST,
        NO_DEFAULT,
        _HIGH,
        None,
        "Addresses of the registry's servers, separated by commas; the next is used if one does not respond. "
        "A user and password in an address are used, and never shown.",
    ),
    (
        "max.schemas.per.subject",
        _INT,
        1000,
        _LOW,
        _COUNT,
        "Size of the schema cache for each kind of request; at least 10,000.",
    ),
    ("latest.cache.size", _INT, 1000, _LOW, _COUNT, "Number of subjects whose newest version is cached."),
    (
        "latest.cache.ttl.sec",
        _INT,
        -1,
        _LOW,
        Range.at_least(-1),
        "For how many seconds the newest version of a subject is cached; -1: as long as a task runs.",
    ),
    ("missing.cache.size", _INT, 10000, _LOW, _COUNT, "Number of not-found responses that are cached."),
    (
        "missing.id.cache.ttl.sec",
        _LONG,
        5,
        _LOW,
        _COUNT,
        "For how many seconds it is cached that an id does not exist. Confluent: 0.",
    ),
    (
        "missing.version.cache.ttl.sec",
        _LONG,
        5,
        _LOW,
        _COUNT,
        "For how many seconds it is cached that a subject or version does not exist. Confluent: 0.",
    ),
    (
        "missing.schema.cache.ttl.sec",
        _LONG,
        5,
        _LOW,
        _COUNT,
        "For how many seconds it is cached that a schema is not registered. Confluent: 0.",
    ),
)

_WRITING: tuple[KeyRow, ...] = (
    (
        "auto.register.schemas",
        _BOOLEAN,
        True,
        _MEDIUM,
        None,
        "Whether new schemas are registered. The settings below apply only if it is false.",
    ),
    (
        "use.schema.id",
        _INT,
        -1,
        _LOW,
        Range.at_least(-1),
        "The id of the schema to write with; -1: none. Requires auto.register.schemas=false.",
    ),
    (
        "id.compatibility.strict",
        _BOOLEAN,
        True,
        _LOW,
        None,
        "Whether the schema of use.schema.id must be able to read what the data's own schema writes.",
    ),
    (
        "use.latest.version",
        _BOOLEAN,
        False,
        _LOW,
        None,
        "Whether the newest version of the subject is used for writing. Requires auto.register.schemas=false.",
    ),
    (
        "latest.compatibility.strict",
        _BOOLEAN,
        True,
        _LOW,
        None,
        "Whether the newest version must be able to read what the data's own schema writes.",
    ),
    (
        "normalize.schemas",
        _BOOLEAN,
        False,
        _MEDIUM,
        None,
        "Whether the registry ignores insignificant order when it compares schemas.",
    ),
    (
        "key.subject.name.strategy",
        _STRING,
        _STRATEGY,
        _MEDIUM,
        None,
        "The subject of a key's schema: TopicNameStrategy, RecordNameStrategy or TopicRecordNameStrategy under "
        "Confluent's names, or one from an installed package.",
    ),
    (
        "value.subject.name.strategy",
        _STRING,
        _STRATEGY,
        _MEDIUM,
        None,
        "The subject of a value's schema, as key.subject.name.strategy.",
    ),
    (
        "schema.id.codec",
        _STRING,
        "confluent",
        _MEDIUM,
        None,
        "How a message identifies its schema: confluent, apicurio-global, apicurio-content, apicurio-content-8, glue, "
        "or one from an installed package.",
    ),
)

_UNUSED = "Not applicable: "
_FORMS: tuple[KeyRow, ...] = (
    (
        "key.schema.id.serializer",
        _STRING,
        f"{_ID_CLASSES}PrefixSchemaIdSerializer",
        _LOW,
        _SERIALIZERS,
        "Where key messages identify their schema: with the id before them, or with the GUID in the header "
        "__key_schema_id.",
    ),
    (
        "value.schema.id.serializer",
        _STRING,
        f"{_ID_CLASSES}PrefixSchemaIdSerializer",
        _LOW,
        _SERIALIZERS,
        "As key.schema.id.serializer; the header is __value_schema_id.",
    ),
    (
        "key.schema.id.deserializer",
        _STRING,
        f"{_ID_CLASSES}DualSchemaIdDeserializer",
        _LOW,
        _DESERIALIZERS,
        "Whether the header is checked first (Dual), or only the prefix of the message (Prefix).",
    ),
    (
        "value.schema.id.deserializer",
        _STRING,
        f"{_ID_CLASSES}DualSchemaIdDeserializer",
        _LOW,
        _DESERIALIZERS,
        "As key.schema.id.deserializer.",
    ),
)

_NOT_APPLICABLE: tuple[KeyRow, ...] = (
    ("use.latest.with.metadata", _STRING, None, _LOW, _REFUSED, f"{_UNUSED}versions are not selected by metadata."),
    ("rule.executors", _LIST, "", _LOW, _REFUSED, f"{_UNUSED}data rules are not executed; schemas with rules fail."),
    ("rule.actions", _LIST, "", _LOW, _REFUSED, f"{_UNUSED}data rules are not executed."),
    ("schema.format", _STRING, None, _LOW, _REFUSED, f"{_UNUSED}schemas are used as they were registered."),
    (
        "context.name.strategy",
        _STRING,
        None,
        _LOW,
        _NULL_CONTEXT,
        f"{_UNUSED}contexts are given in the URL or subject.",
    ),
    ("rule.service.loader.enable", _BOOLEAN, True, _LOW, None, f"{_UNUSED}it is for finding Java classes."),
    ("propagate.schema.tags", _BOOLEAN, False, _LOW, None, f"{_UNUSED}tags are not written."),
    ("schema.reflection", _BOOLEAN, False, _LOW, None, f"{_UNUSED}it is about Java classes."),
    (f"{SSL}protocol", _STRING, None, _LOW, None, f"{_UNUSED}TLS 1.2 and newer, as negotiated by OpenSSL."),
    (f"{SSL}enabled.protocols", _LIST, None, _LOW, None, f"{_UNUSED}TLS 1.2 and newer, as negotiated by OpenSSL."),
    (f"{SSL}cipher.suites", _LIST, None, _LOW, None, f"{_UNUSED}OpenSSL's own choice."),
    (f"{SSL}provider", _STRING, None, _LOW, None, f"{_UNUSED}it names Java code."),
    (f"{SSL}engine.factory.class", _STRING, None, _LOW, _REFUSED, f"{_UNUSED}it names Java code."),
    (f"{SSL}keymanager.algorithm", _STRING, None, _LOW, None, f"{_UNUSED}it names Java code."),
    (f"{SSL}trustmanager.algorithm", _STRING, None, _LOW, None, f"{_UNUSED}it names Java code."),
    (f"{SSL}secure.random.implementation", _STRING, None, _LOW, None, f"{_UNUSED}it names Java code."),
)

_GROUPS = {
    "Registry": _REGISTRY,
    "Writing": _WRITING,
    "Location of the schema id": _FORMS,
    **CONNECTION_KEYS,
    "Not applicable": _NOT_APPLICABLE,
}


def define_registry(definition: ConfigDef) -> ConfigDef:
    """Add the settings of a schema registry to a converter's definition and return it."""
    for group, rows in _GROUPS.items():
        for order, (name, type_, default, importance, validator, doc) in enumerate(rows):
            key = ConfigKey(name, type_, default, validator, importance, doc, group, order, display_name=name)
            definition.define_key(key)
    return definition
