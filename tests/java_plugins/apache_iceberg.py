"""Apache's Iceberg sink for Kafka Connect, with all its jars."""

from __future__ import annotations

from pathlib import Path

from tests.programs import maven_jars

__all__ = ["APACHE", "iceberg_jars"]

APACHE = "org.apache.iceberg.connect.IcebergSinkConnector"


def iceberg_jars() -> Path:
    """Return the folder of its jars."""
    return maven_jars("iceberg-kafka-connect-1.10.1", Path(__file__).parents[1] / "peer" / "iceberg" / "pom.xml")
