"""Wheels of this tree, and environments that have nothing but what they install."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["ROOT", "build_wheel", "create", "run"]

ROOT = Path(__file__).parents[2]
_UV = Path(sys.executable).with_name("uv")
_OF_STACKS = ("AIRFLOW", "CONNECT_", "PYTHON", "SPARK", "VIRTUAL_ENV")


def build_wheel(folder: Path) -> Path:
    """Build this tree's wheel → its file."""
    run(folder, _UV, "build", "--quiet", "--wheel", "--out-dir", folder / "dist", ROOT)
    return next((folder / "dist").glob("*.whl"))


def create(folder: Path, wheel: Path, extras: str = "", *options: str | Path) -> Path:
    """Install a wheel with extras, such as ``[rest]``, into a new environment → its folder of commands."""
    home = folder / "environment"
    run(folder, _UV, "venv", "--quiet", "--python", sys.executable, home)
    python = home / "bin" / "python"
    wanted = f"connect-core{extras} @ {wheel.as_uri()}"
    run(folder, _UV, "pip", "install", "--quiet", "--python", python, *options, wanted)
    return python.parent


def run(folder: Path, *command: str | Path, seconds: float = 800) -> str:
    """Run a command in a folder, with no setting of this process's stacks → what it printed."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith(_OF_STACKS)}
    environment |= {"COLUMNS": "160", **{name: os.environ[name] for name in ("CONNECT_CACHE",) if name in os.environ}}
    done = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout
