"""The schemas of a connector's topics in the registries of its converters."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, replace
from functools import partial

from connect_core.api.convert import TopicSchema
from connect_core.configs import ConnectorConfig
from connect_core.configs.converters import topic_schemas
from connect_core.configs.redaction import Redaction
from connect_core.errors import ConnectError
from connect_core.herder.attempts import Attempts
from connect_core.herder.context import Herder
from connect_core.herder.lag import topics_of
from connect_core.java_plugins.redaction import redacting
from connect_core.store import connectors, topics

__all__ = ["TopicSchemaList", "list_schemas"]

_SECONDS = 6.0
_ASKED = Attempts("lists of topics' schemas", 8)


@dataclass(frozen=True, slots=True)
class TopicSchemaList:
    """The newest schemas by topic; empty if the converters use no registry. ``reason``: why none could be read."""

    schemas: list[TopicSchema]
    reason: str | None = None


def list_schemas(herder: Herder, name: str) -> TopicSchemaList:
    """Return the schemas of topics that were used, and of those a sink names; 6 s at most. Raise NotFoundError."""
    with herder.database.read() as connection:
        config = connectors.get(connection, name).config
        used = topics.active(connection, name)
    shown = Redaction(config, herder.providers, name)
    try:
        found = _ASKED.start(partial(_ask, herder, name, config, used)).result(_SECONDS)
    except FutureTimeoutError:
        return TopicSchemaList([], f"The registries did not respond within {_SECONDS:g} s")
    except ConnectError as error:
        return TopicSchemaList([], shown(str(error)))
    return TopicSchemaList([replace(one, error=None if one.error is None else shown(one.error)) for one in found])


def _ask(herder: Herder, name: str, config: Mapping[str, str], used: list[str]) -> list[TopicSchema]:
    resolved = herder.providers.resolve(config, name)
    wanted = sorted({*used, *topics_of(resolved)})
    with redacting(Redaction(config, herder.providers, name).texts):
        return list(topic_schemas(ConnectorConfig.unparsed(config, resolved, herder.worker), wanted))
