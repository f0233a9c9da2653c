"""Whose a source connector is: one offsets topic keeps one connector of a name, for one deployment.

Two deployments with different ``group.id`` may share an offsets topic. Connectors of one name in it would read each
other's offsets, and end each other's runs by ever newer epochs. Each epoch record names the deployment that wrote it.
"""

from __future__ import annotations

from dataclasses import dataclass

from connect_core.errors import ConfigError
from connect_core.kafka.marker_records import ConnectorOwner

__all__ = ["ConnectorClaim"]


@dataclass(frozen=True, slots=True)
class ConnectorClaim:
    """The deployment that writes, and the database it replaces (``metadata.replaces``)."""

    owner: ConnectorOwner
    replaces: str = ""

    def is_foreign(self, found: ConnectorOwner | None) -> bool:
        """Return whether a connector is another deployment's; one without an owner is anybody's.

        A standalone worker continues what another one has begun: it is often the same, with a new database.
        """
        if found is None or (found.is_standalone and self.owner.is_standalone):
            return False
        return found.database not in (self.owner.database, self.replaces)

    def check(self, topic: str, connector: str, found: ConnectorOwner | None) -> None:
        """Compare with the owner found in the topic. Raise ConfigError."""
        if found is None or not self.is_foreign(found):
            return
        raise ConfigError(
            "name",
            connector,
            f"the offsets topic {topic} keeps a source connector of this name for another deployment, group.id="
            f"{found.group} with the metadata database {found.database}: the two would read each other's offsets and "
            f"end each other's runs. Set offsets.storage.topic of this connector to a topic of its own, rename it, or "
            f"delete the other one; if that database is permanently lost, set metadata.replaces={found.database} in "
            "this worker's properties",
        )
