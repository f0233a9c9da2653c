"""Offsets of sources from a Connect cluster's own topic, for clusters before Kafka 3.5, whose REST API has none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from connect_core.errors import NotFoundError
from connect_core.kafka.marker_records import Marker
from connect_core.kafka.markers import OffsetsTopic
from connect_core.migration.connect_api import OffsetEntries

__all__ = ["ForeignOffsetsTopic"]


@dataclass(frozen=True)
class ForeignOffsetsTopic:
    """A cluster's ``offset.storage.topic``, read once for all connectors. Connect: ``KafkaOffsetBackingStore``."""

    topic: OffsetsTopic

    def of(self, connector: str) -> OffsetEntries:
        """Return the newest offsets of a connector. Raise ConnectError if the topic is missing or cannot be read."""
        return [{"partition": dict(one.partition), "offset": one.offset} for one in self._newest.get(connector, [])]

    @cached_property
    def _newest(self) -> dict[str, list[Marker]]:
        try:
            return self.topic.newest()
        except NotFoundError as error:
            servers = self.topic.clients.bootstrap_servers
            raise NotFoundError(
                f"There is no topic {self.topic.name} at bootstrap.servers={servers}: give the offset.storage.topic of"
                " that cluster with --offsets-topic, and a worker that uses the same Kafka"
            ) from error
