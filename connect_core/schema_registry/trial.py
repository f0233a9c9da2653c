"""Whether topics can be written with what a registry has, found out without registering a schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from connect_core.errors import DataError
from connect_core.schema_registry.client import RegistryClient
from connect_core.schema_registry.errors import SchemaRegistryError, UnavailableRegistryError
from connect_core.schema_registry.message_schemas import RegistrySchemas
from connect_core.schema_registry.model import RegisteredSchema, SchemaText
from connect_core.schema_registry.serde import forms_of
from connect_core.schema_registry.settings import RegistrySettings, WriteSettings

__all__ = ["UnchangedRegistry", "WriteTrial"]

_AUTO_REGISTER, _SCHEMA_ID, _LATEST = "auto.register.schemas", "use.schema.id", "use.latest.version"


class UnchangedRegistry(RegistryClient):
    """A registry that is asked whether a schema could be registered, and does not register it."""

    def register(self, subject: str, schema: SchemaText, normalize: bool = False) -> RegisteredSchema:
        """Return the schema with the id 0. Raise SchemaRegistryError if the subject's level forbids it."""
        if not self.is_compatible(subject, schema):
            raise SchemaRegistryError(
                f"its schema is not compatible with the newest version of subject {subject}{self._by(subject)}; "
                "change what is written, write another topic, or change the subject's compatibility level"
            )
        return RegisteredSchema(0, schema, subject)

    def _by(self, subject: str) -> str:
        try:
            return f" ({self.compatibility(subject)})"
        except SchemaRegistryError:
            # A user may be allowed to write schemas and not to read the configuration.
            return ""


class WriteTrial:
    """Tries to find the schemas with which a converter would write."""

    def __init__(self, settings: RegistrySettings, registry: UnchangedRegistry, configs: Mapping[str, Any]) -> None:
        self._settings, self._registry = settings, registry
        self._forms = forms_of(settings, configs)

    @property
    def setting(self) -> str:
        """The setting that decides which schema is written with."""
        write = self._settings.write
        if write.auto_register:
            return _AUTO_REGISTER
        return _SCHEMA_ID if write.schema_id is not None else _LATEST if write.use_latest else _AUTO_REGISTER

    def error(self, topic: str, schema: SchemaText, record_name: str | None) -> str | None:
        """Return why a topic cannot be written with a schema, with remedy. Raise UnavailableRegistryError."""
        schemas = RegistrySchemas(self._settings, schema.kind, self._registry, self._forms, lambda: None)
        try:
            schemas.chosen(topic, schema, record_name)
        except UnavailableRegistryError:
            raise
        except (SchemaRegistryError, DataError) as error:
            remedy = _remedy(self._settings.write, error)
            return f"Topic {topic} cannot be written: {error}{remedy}"
        return None


def _remedy(write: WriteSettings, error: Exception) -> str:
    is_missing = isinstance(error, SchemaRegistryError) and error.is_missing and not write.auto_register
    return f"; register the schema, or set {_AUTO_REGISTER}=true" if is_missing else ""
