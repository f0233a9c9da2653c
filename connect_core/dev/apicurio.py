"""Download of Apicurio Registry from Maven Central."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from connect_core.dev.archives import Archive

__all__ = ["apicurio_jar", "apicurio_jar_cached"]

_VERSION = "3.0.9"
"""The newest version that runs on Java 17."""
_ARCHIVE = Archive(
    f"apicurio-registry-{_VERSION}",
    f"io.apicurio:apicurio-registry-app:{_VERSION}:all:tar.gz",
    "2b28181501a20cbf6efcd77f9b7153908fc01f3d3a7c32024c0bd9e1b04c8a43",
)


def apicurio_jar_cached() -> Path | None:
    """Return the jar that starts the registry if the download is complete, else ``None``."""
    return _jar(_ARCHIVE.folder) if _ARCHIVE.is_unpacked else None


def apicurio_jar(show: Callable[[str], None]) -> Path:
    """Return the jar that starts the registry, downloading 109 MB when needed. As ``Archive.unpacked``."""
    return _jar(_ARCHIVE.unpacked(show))


def _jar(folder: Path) -> Path:
    return folder / f"apicurio-registry-app-{_VERSION}-runner.jar"
