"""Whether the topics of a connector are there for this worker's clients, and may be read or written by them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from typing_extensions import TypedDict

from connect_core.errors import ConnectError
from connect_core.herder.context import Herder
from connect_core.herder.lag import topics_of
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.properties import ClientKind
from connect_core.kafka.rights import topic_rights

__all__ = ["TopicHere", "TopicJson", "topics_here"]

_SECONDS = 3.0
_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_DEAD_LETTERS = "errors.deadletterqueue.topic.name"

Use = Literal["reads", "writes"]
_NEEDED = {
    "reads": (ClientKind.CONSUMER, "Read"),
    "writes": (ClientKind.PRODUCER, "Write"),
}


class TopicJson(TypedDict):
    """A topic in ``--json`` and REST."""

    name: str
    use: Use
    here: str


@dataclass(frozen=True, slots=True)
class TopicHere:
    """A topic that a connector reads or writes; ``here``: in words, whether it is there and may be used."""

    name: str
    use: Use
    here: str

    def to_json(self) -> TopicJson:
        """Return the topic for ``--json``."""
        return {"name": self.name, "use": self.use, "here": self.here}


def topics_here(herder: Herder, kind: str, config: Mapping[str, str], used: Collection[str]) -> tuple[TopicHere, ...]:
    """Ask the brokers about a connector's topics, for some seconds; nothing with ``connect.validate.live=false``.

    ``kind``: source or sink. ``used``: the topics that it has used in its cluster.
    """
    if not herder.worker.values["connect.validate.live"]:
        return ()
    letters = {config.get(_DEAD_LETTERS, "").strip()}
    listed = topics_of(config) if kind == "sink" else [config.get("topic", "").strip()]
    own: Use = "reads" if kind == "sink" else "writes"
    uses: dict[Use, list[str]] = {"reads": [], "writes": []}
    uses[own] += [*listed, *sorted(set(used) - letters)]
    uses["writes"] += [*letters]
    return tuple(one for use, names in uses.items() for one in _told(herder, config, use, names))


def _told(herder: Herder, config: Mapping[str, str], use: Use, names: Collection[str]) -> Iterator[TopicHere]:
    kind, right = _NEEDED[use]
    topics = [name for name in dict.fromkeys(names) if _NAME.fullmatch(name)]
    if not topics:
        return
    try:
        resolved = herder.providers.resolve(config, config["name"])
        rights = topic_rights(KafkaClients(herder.worker.resolved, resolved), kind, topics, _SECONDS)
    except ConnectError:
        # What brokers and their clients say may repeat a login.
        yield from (TopicHere(name, use, "unknown: the brokers do not respond here") for name in topics)
        return
    done = {"reads": "read", "writes": "written"}[use]
    for name in topics:
        if name not in rights:
            here = "does not exist yet"
        elif right.upper() in rights[name]:
            here = f"is there, and can be {done}"
        else:
            here = f"may not be {done} here: grant the {kind.value}'s user {right}"
        yield TopicHere(name, use, here)
