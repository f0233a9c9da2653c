"""Jars of a Maven repository, with all that they need."""

from __future__ import annotations

from pathlib import Path

from tests.programs import maven_jars

__all__ = ["published_jars"]

_POM = Path(__file__).with_name("java_plugin.xml")


def published_jars(group: str, artifact: str, version: str) -> Path:
    """Return the folder with an artifact's jar and those that it needs. As ``maven_jars``."""
    properties = {"plugin.group": group, "plugin.artifact": artifact, "plugin.version": version}
    return maven_jars(f"{artifact}-{version}", _POM, properties)
