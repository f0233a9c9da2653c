"""Finds the Java that Kafka and Spark run on."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from connect_core.errors import ConnectError
from connect_core.java_host.java import JAVA_REMEDY, MINIMUM_JAVA, java_program

__all__ = ["find_java", "java_version"]


def find_java() -> Path:
    """Return a ``java`` program that is new enough, else raise ConnectError."""
    found = java_program()
    version = java_version(found)
    if version < MINIMUM_JAVA:
        raise ConnectError(f"{found} is Java {version}; Kafka and Spark need {MINIMUM_JAVA}. {JAVA_REMEDY}")
    return found


def java_version(java: Path) -> int:
    """Return the feature version (8, 17, 21, …) of a ``java`` program."""
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except OSError as error:
        raise ConnectError(f"{java} cannot be started: {error.strerror}. {JAVA_REMEDY}") from error
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    if match is None:
        raise ConnectError(f"{java} -version prints no version. {JAVA_REMEDY}")
    return int(match.group(1))
