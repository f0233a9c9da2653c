"""Apicurio's Avro converter for Kafka Connect, from Maven Central, set up for messages in Confluent's form."""

from __future__ import annotations

from pathlib import Path

from connect_core.dev.archives import Archive
from tests.java_plugins.equipment import silent

__all__ = ["converter_folder", "converter_settings"]

_VERSION = "2.5.11.Final"
_CONVERTER = Archive(
    f"apicurio-connect-converter-{_VERSION}",
    f"io.apicurio:apicurio-registry-distro-connect-converter:{_VERSION}::tar.gz",
    "7c79f5486876e37c11a68c57b7ddfe69e393e0655a7300fc4bba1be390a439c0",
)


def converter_folder(work: Path) -> Path:
    """Return a new folder in ``work`` for plugin.path. Raises ConnectError without a network."""
    folder = work / "apicurio-converter"
    folder.mkdir()
    (folder / "apicurio").symlink_to(_CONVERTER.unpacked(silent))
    return folder


def converter_settings(url: str) -> dict[str, str]:
    """Return the converter's settings for a registry whose API in Confluent's form is at ``url``."""
    return {
        "apicurio.registry.url": url.replace("/apis/ccompat/v7", "/apis/registry/v2"),
        "apicurio.registry.auto-register": "true",
        "apicurio.registry.as-confluent": "true",
        "apicurio.registry.use-id": "contentId",
        "apicurio.registry.artifact-resolver-strategy": "io.apicurio.registry.serde.strategy.TopicIdStrategy",
    }
