"""Workers and connectors as most tests want them."""

from __future__ import annotations

from connect_core.settings import WorkerSettings

__all__ = ["SINK", "SOURCE", "worker"]

JSON = "org.apache.kafka.connect.json.JsonConverter"
SOURCE = {"name": "lines", "connector.class": "FileStreamSource", "tasks.max": "1", "file": "/tmp/x", "topic": "t"}
SINK = {"name": "export", "connector.class": "FileStreamSink", "tasks.max": "2", "file": "/tmp/x", "topics": "t,u"}
WORKER = {
    "group.id": "connect-cluster",
    "offset.storage.topic": "connect-offsets",
    "status.storage.topic": "connect-status",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": JSON,
    "value.converter.schemas.enable": "false",
}


def worker(more: dict[str, str] | None = None) -> WorkerSettings:
    """Return the settings of a distributed worker."""
    return WorkerSettings.from_properties(WORKER | (more or {}), {})
