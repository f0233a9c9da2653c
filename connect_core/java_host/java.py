"""Finds the ``java`` program."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from connect_core.errors import ConnectError

__all__ = ["JAVA_REMEDY", "MINIMUM_JAVA", "java_program"]

MINIMUM_JAVA = 17
JAVA_REMEDY = (
    f"Install Java {MINIMUM_JAVA} or later (Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME."
)


def java_program() -> Path:
    """Return the ``java`` of JAVA_HOME, else of PATH. Raise ConnectError without one."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if not found or not Path(found).exists():
        place = f"JAVA_HOME={home}" if home else "PATH"
        raise ConnectError(f"Java was not found ({place}). {JAVA_REMEDY}")
    return Path(found)
