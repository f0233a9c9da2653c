"""Debezium's connectors as its users install them: the archive of a connector, unpacked in a folder of plugin.path."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import tarfile
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from connect_core.dev.jars import maven_mirror
from connect_core.settings.user_cache import user_cache

__all__ = ["debezium"]

_VERSION = "3.4.0.Final"
_SHA256 = {
    "jdbc": "80f456b94f836f24f36e916f91f213b3ba42f1b22a6ab1a89aaa6366eecd87f0",
    "postgres": "df62945c143811dcac2522fac1944a25ad4677839d3ae42cc12d180bc6764425",
}
_CENTRAL = "https://repo.maven.apache.org/maven2"


def debezium(connector: str) -> Path:
    """Return the folder with a connector's jars. Skips the test where the Maven repository does not answer."""
    folder = user_cache() / f"debezium-{connector}-{_VERSION}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _unpack(connector, folder)
    return folder


def _unpack(connector: str, folder: Path) -> None:
    name = f"debezium-connector-{connector}"
    base = (maven_mirror(Path.home() / ".m2" / "settings.xml") or _CENTRAL).rstrip("/")
    try:
        with urllib.request.urlopen(f"{base}/io/debezium/{name}/{_VERSION}/{name}-{_VERSION}-plugin.tar.gz") as answer:
            content = answer.read()
    except (urllib.error.URLError, TimeoutError) as error:
        pytest.skip(f"Debezium cannot be had: {error}")
    assert hashlib.sha256(content).hexdigest() == _SHA256[connector]
    scratch = folder.with_suffix(".scratch")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    archive = scratch / "plugin.tar.gz"
    archive.write_bytes(content)
    with tarfile.open(archive) as opened:
        opened.extractall(scratch, filter="data")
    archive.unlink()
    scratch.rename(folder)
