"""Rewrites all configurations in the database."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlalchemy import Connection, select, update

from connect_core.store.models import Connector, ConnectorConfig

__all__ = ["rewrite_configs"]

Config = Mapping[str, str]
Rewrite = Callable[[str, Config], dict[str, str]]
RewriteTasks = Callable[[str, Config, list[dict[str, str]]], list[dict[str, str]]]


def rewrite_configs(connection: Connection, rewrite: Rewrite, rewrite_tasks: RewriteTasks) -> int:
    """Rewrite all configurations, their versions and those assigned to tasks → how many connectors changed.

    ``rewrite_tasks`` gets the previous configuration, from which the tasks were assigned.
    """
    changed: set[str] = set()
    columns = select(Connector.name, Connector.config, Connector.task_configs)
    for name, config, tasks in connection.execute(columns).all():
        fresh = rewrite(name, config)
        if fresh != config:
            assigned = tasks and rewrite_tasks(name, config, tasks)
            mine = Connector.name == name
            connection.execute(update(Connector).where(mine).values(config=fresh, task_configs=assigned))
            changed.add(name)
    versions = select(ConnectorConfig.connector, ConnectorConfig.version, ConnectorConfig.config)
    for name, version, config in connection.execute(versions).all():
        fresh = rewrite(name, config)
        if fresh != config:
            mine = (ConnectorConfig.connector == name) & (ConnectorConfig.version == version)
            connection.execute(update(ConnectorConfig).where(mine).values(config=fresh))
            changed.add(name)
    return len(changed)
