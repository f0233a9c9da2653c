"""Debezium's connectors as its users install them: the archive of a connector, unpacked in a folder of plugin.path."""

from __future__ import annotations

from pathlib import Path

from connect_core.dev.archives import Archive
from tests.java_plugins.equipment import silent

__all__ = ["debezium"]

_VERSION = "3.4.0.Final"
_SHA256 = {
    "jdbc": "80f456b94f836f24f36e916f91f213b3ba42f1b22a6ab1a89aaa6366eecd87f0",
    "mariadb": "4523c0d42777125a2a7bb9d9031d331b56c760c6e36c5ea7287b990f7719ea89",
    "postgres": "df62945c143811dcac2522fac1944a25ad4677839d3ae42cc12d180bc6764425",
}


def debezium(connector: str) -> Path:
    """Return the folder with a connector's folder of jars. Raises ConnectError without a network."""
    module = f"io.debezium:debezium-connector-{connector}:{_VERSION}:plugin:tar.gz"
    return Archive(f"debezium-{connector}-{_VERSION}", module, _SHA256[connector]).unpacked(silent)
