"""The host's jar as a file of its own: Spark workers have this package in a zip, in which Java finds no jar."""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import cache
from importlib import resources
from pathlib import Path

from connect_core.settings.private_folder import is_private_file, private_folder

__all__ = ["HOST_JAR", "host_jar"]

HOST_JAR = Path(__file__).parent / "host.jar"
"""Its place beside this module, where a build writes it."""


@cache
def host_jar() -> Path:
    """Return the jar's file: the package's own, else a copy in this user's temporary folder. Raises ConnectError."""
    if HOST_JAR.is_file():
        return HOST_JAR
    content = resources.files("connect_core.java_host").joinpath(HOST_JAR.name).read_bytes()
    file = private_folder("java-host") / f"{hashlib.sha256(content).hexdigest()[:16]}.jar"
    if not is_private_file(file) or file.read_bytes() != content:
        # Several tasks may copy it at once: each has its own draft.
        descriptor, draft = tempfile.mkstemp(".part", dir=file.parent)
        with os.fdopen(descriptor, "wb") as target:
            target.write(content)
        Path(draft).replace(file)
    return file
