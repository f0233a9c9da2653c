"""The state folder of a stack, with a sub-folder per service."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from connect_core.errors import ConnectError

__all__ = ["Home"]

_MINIMUM_FREE_BYTES = 1 << 30
_IN_WHEEL = Path(__file__).parent / "shipped"
_SHIPPED = _IN_WHEEL if _IN_WHEEL.is_dir() else Path(__file__).parents[2]
"""The parent of config/, in a wheel or in a checkout."""
_DAGS = Path(__file__).parents[1] / "dag" / "files"


@dataclass(frozen=True, slots=True)
class Home:
    """One stack's state folder and the project whose DAGs it runs.

    ``path`` is ``.connect`` in the project unless ``CONNECT_HOME`` is set;
    ``project`` may contain ``dags/``, ``plugins/`` and ``config/``.
    """

    path: Path
    project: Path

    @classmethod
    def locate(cls) -> Home:
        """Find the project from the working directory upwards."""
        project = Path(os.environ.get("CONNECT_PROJECT") or _project_above(Path.cwd()))
        path = Path(os.environ.get("CONNECT_HOME") or project / ".connect")
        return cls(path.absolute(), project.absolute())

    @property
    def data(self) -> Path:
        """The only folder in which connectors may read and write files; separate from the stack's own state."""
        return self.path / "data"

    def folder(self, service: str) -> Path:
        """Return the folder of a service, created readable by its owner only."""
        self._make_private()
        folder = self.path / service
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def setting(self, relative: str) -> Path | None:
        """Return a file of the project's ``config/``, else the one shipped."""
        candidates = (root / "config" / relative for root in (self.project, _SHIPPED))
        return next((path for path in candidates if path.is_file()), None)

    @property
    def dags(self) -> Path:
        """The project's ``dags`` folder if it has connect-core's file, else the one shipped."""
        own = self.project / "dags"
        return own if (own / "connect_dags.py").is_file() else _DAGS

    @property
    def plugins(self) -> Path:
        """The project's ``plugins`` folder, which need not exist: Airflow finds our plugin by its entry point."""
        return self.project / "plugins"

    def create(self) -> None:
        """Create the folder. Raise ConnectError if that fails or too little disk space is free."""
        try:
            self._make_private()
            self.data.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise ConnectError(
                f"Cannot create {self.path}: {error.strerror}. Set CONNECT_HOME to a writable folder."
            ) from error
        free = shutil.disk_usage(self.path).free
        if free < _MINIMUM_FREE_BYTES:
            raise ConnectError(
                f"Only {free >> 20} MiB are free at {self.path}, but the stack needs 1024:"
                " free some space, or set CONNECT_HOME to another folder."
            )

    def _make_private(self) -> None:
        """Remove others' rights to read or list the folder; root's PostgreSQL account may still pass through it."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = stat.S_IMODE(self.path.stat().st_mode)
        wanted = mode & (0o711 if os.geteuid() == 0 else 0o700)
        if mode != wanted:
            self.path.chmod(wanted)

    @contextlib.contextmanager
    def lock(self, name: str = "lock") -> Iterator[None]:
        """Hold an exclusive lock of this stack; blocks while it is held elsewhere."""
        self._make_private()
        with (self.path / name).open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _project_above(start: Path) -> Path:
    for folder in (start, *start.parents):
        if (folder / ".connect").is_dir() or (folder / "config" / "worker.properties").is_file():
            return folder
    return start
