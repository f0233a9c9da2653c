"""Connectors of the tests as an installed distribution: how a user's connectors come to a worker."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from connect_core.registry import ENTRY_POINTS

__all__ = ["install"]


def install(folder: Path, module: Path, classes: Mapping[str, str]) -> Path:
    """Make a module's ``classes``, by entry point, a distribution → the folder to be put on the path."""
    name = module.stem
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    shutil.copy(module, folder)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n")
    entries = "".join(f"{entry} = {name}:{kind}\n" for entry, kind in classes.items())
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\n{entries}")
    # What is recorded travels to Spark's workers.
    files = (module.name, *(f"{info.name}/{file}" for file in ("METADATA", "RECORD", "entry_points.txt")))
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    return folder
