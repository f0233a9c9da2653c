"""One metadata database per ``group.id``: claimed on the brokers, and denied to any other database."""

from __future__ import annotations

from connect_core.errors import ConfigError, RetriableError
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.group_claim import claim_group
from connect_core.kafka.markers import OffsetsTopic
from connect_core.settings import WorkerSettings
from connect_core.store import Database, deployment

__all__ = ["ensure_group_owned", "own_group"]


def own_group(settings: WorkerSettings, database: Database) -> str:
    """Claim the ``group.id`` for this database when a run needs it → its id; brokers are asked only the first time.

    Raises RetriableError, also if it belongs to another database or was changed too early: it is a worker setting, and
    no connector should need a manual restart once that is corrected.
    """
    try:
        with database.write() as connection:
            mine = deployment.claim(connection, settings.deployment)
            is_claimed = deployment.claimed(connection, settings.deployment)
        if not is_claimed:
            _claim(settings, database, mine)
        return mine
    except ConfigError as error:
        raise RetriableError(str(error)) from error


def ensure_group_owned(settings: WorkerSettings, database: Database) -> None:
    """Do the same when a service starts: the brokers are asked every time. Raises ConfigError, RetriableError."""
    with database.write() as connection:
        mine = deployment.claim(connection, settings.deployment)
    _claim(settings, database, mine)


def _claim(settings: WorkerSettings, database: Database, mine: str) -> None:
    topic = OffsetsTopic(KafkaClients(settings.resolved), settings.offsets_topic.name)
    group, replaced = settings.deployment, settings.values["metadata.replaces"]
    existing = claim_group(topic, group, mine, replaced)
    if existing.database != mine:
        raise ConfigError(
            "group.id",
            group,
            f"on these brokers it belongs to another metadata database, {existing.database}, since {existing.since}: "
            "connectors of both would fence each other. Give this deployment another group.id; or, if that database "
            f"is permanently lost, set metadata.replaces={existing.database}",
        )
    with database.write() as connection:
        deployment.record_claim(connection, group)
