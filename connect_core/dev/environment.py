"""Reads and writes the variables of a stack: one ``KEY=value`` per line."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from connect_core.dev.home import Home
from connect_core.dev.secrets import write_private

__all__ = ["load_environment", "parse_variables", "read_environment", "write_variables"]


def read_environment(home: Home) -> dict[str, str]:
    """Return the variables of ``.connect/env``; none when there is no stack."""
    return parse_variables(home.path / "env")


def load_environment(home: Home) -> None:
    """Load the stack's environment into this process; variables that are already set win."""
    for name, value in read_environment(home).items():
        os.environ.setdefault(name, value)


def parse_variables(file: Path | None) -> dict[str, str]:
    """Return a file's variables; none when there is no file."""
    if file is None or not file.exists():
        return {}
    lines = [line for line in file.read_text().splitlines() if "=" in line and not line.lstrip().startswith("#")]
    pairs = (line.partition("=") for line in lines)
    return {name.strip(): _unquoted(value.strip()) for name, _, value in pairs}


def write_variables(file: Path, values: Mapping[str, str]) -> None:
    """Write variables in a form that a shell can read too, readable by their owner only."""
    write_private(file, "".join(f"{name}={shlex.quote(value)}\n" for name, value in values.items()))


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] == "'"
    return "".join(shlex.split(value)) if is_quoted else value
