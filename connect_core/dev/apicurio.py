"""Apicurio Registry's program, downloaded once from Maven Central and kept per user."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import httpx

from connect_core.dev.home import Home
from connect_core.dev.jars import maven_mirror
from connect_core.errors import ConnectError
from connect_core.settings.user_cache import user_cache

__all__ = ["APICURIO_VERSION", "apicurio_jar", "apicurio_jar_cached"]

APICURIO_VERSION = "3.0.9"
"""The newest that runs on Java 17."""

_SHA256 = "2b28181501a20cbf6efcd77f9b7153908fc01f3d3a7c32024c0bd9e1b04c8a43"
_BYTES = 108_860_403
_CENTRAL = "https://repo1.maven.org/maven2"
_FILE = f"io/apicurio/apicurio-registry-app/{APICURIO_VERSION}/apicurio-registry-app-{APICURIO_VERSION}-all.tar.gz"
_SECONDS = 60.0


def apicurio_jar_cached() -> Path | None:
    """Return the jar that starts the registry when it is there with all it needs."""
    folder = user_cache() / f"apicurio-registry-{APICURIO_VERSION}"
    return _jar(folder) if (folder / "complete").exists() else None


def apicurio_jar(show: Callable[[str], None]) -> Path:
    """Return the jar that starts the registry, downloading 109 MB when needed; ``show`` gets lines of progress.

    Callers at the same time wait for the first one. Raise ConnectError without a network, and for a download
    that is not what it was when its SHA-256 was written here.
    """
    found = apicurio_jar_cached()
    if found is not None:
        return found
    folder = user_cache() / f"apicurio-registry-{APICURIO_VERSION}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with Home(folder.parent, Path.cwd()).lock(f"{folder.name}.lock"):
        return apicurio_jar_cached() or _install(folder, show)


def _jar(folder: Path) -> Path:
    return folder / f"apicurio-registry-app-{APICURIO_VERSION}-runner.jar"


def _install(folder: Path, show: Callable[[str], None]) -> Path:
    scratch = folder.with_name(f"{folder.name}.{os.getpid()}")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    try:
        archive = scratch / "all.tar.gz"
        _download(archive, show)
        show(f"{folder.name}: unpacking")
        with tarfile.open(archive) as file:
            file.extractall(scratch / "all", filter="data")
        (scratch / "all" / "complete").touch()
        shutil.rmtree(folder, ignore_errors=True)
        (scratch / "all").replace(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return _jar(folder)


def _download(archive: Path, show: Callable[[str], None]) -> None:
    root = maven_mirror(Path.home() / ".m2" / "settings.xml") or _CENTRAL
    url = f"{root.rstrip('/')}/{_FILE}"
    digest, size = hashlib.sha256(), 0
    try:
        with httpx.stream("GET", url, timeout=_SECONDS, follow_redirects=True) as answer, archive.open("wb") as file:
            answer.raise_for_status()
            for part in answer.iter_bytes(1 << 20):
                size += len(part)
                if size > _BYTES:
                    break
                digest.update(part)
                file.write(part)
                show(f"Apicurio Registry {APICURIO_VERSION}: {size >> 20} of {_BYTES >> 20} MB")
    except httpx.HTTPError as error:
        raise ConnectError(
            f"Apicurio Registry could not be downloaded from {root} ({str(error) or type(error).__name__}): check the"
            " network (behind a firewall, name your mirror in ~/.m2/settings.xml, your proxy in https_proxy)."
        ) from error
    if size != _BYTES or digest.hexdigest() != _SHA256:
        remedy = "the network or the mirror changes files. Try again, or name another mirror in ~/.m2/settings.xml."
        raise ConnectError(f"What {url} gives is not Apicurio Registry {APICURIO_VERSION}: {remedy}")
