"""The Java that Kafka and Spark run on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from connect_core.errors import ConnectError

__all__ = ["MINIMUM_JAVA", "find_java", "java_version"]

MINIMUM_JAVA = 17
_REMEDY = f"Install Java {MINIMUM_JAVA} or later (Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME."


def find_java() -> Path:
    """Return a ``java`` that is new enough, else raise ConnectError."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if not found or not Path(found).exists():
        place = f"JAVA_HOME={home}" if home else "PATH"
        raise ConnectError(f"Java was not found ({place}). {_REMEDY}")
    version = java_version(Path(found))
    if version < MINIMUM_JAVA:
        raise ConnectError(f"{found} is Java {version}; Kafka and Spark need {MINIMUM_JAVA}. {_REMEDY}")
    return Path(found)


def java_version(java: Path) -> int:
    """Return the feature version (8, 17, 21, …) of a ``java`` program."""
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except OSError as error:
        raise ConnectError(f"{java} cannot be started: {error.strerror}. {_REMEDY}") from error
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    if match is None:
        raise ConnectError(f"{java} -version gives no version. {_REMEDY}")
    return int(match.group(1))
