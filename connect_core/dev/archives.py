"""Archives from a Maven repository, unpacked once and kept per user."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from connect_core.dev.home import Home
from connect_core.dev.maven import retrieve
from connect_core.errors import ConnectError
from connect_core.settings.user_cache import user_cache

__all__ = ["Archive"]


@dataclass(frozen=True, slots=True)
class Archive:
    """A tar file with a known SHA-256.

    name: its folder in the user's cache; module: ``group:name:version:classifier:extension``.
    """

    name: str
    module: str
    sha256: str

    @property
    def folder(self) -> Path:
        """The folder of its content, unpacked or not."""
        return user_cache() / self.name

    @property
    def is_unpacked(self) -> bool:
        """Whether it was unpacked completely."""
        return (self.folder / "complete").exists()

    def unpacked(self, show: Callable[[str], None]) -> Path:
        """Return the folder with its content, downloading it when needed; ``show`` gets lines of progress.

        Concurrent callers wait for the first one. Raise ConnectError without a network, and if the SHA-256 differs.
        """
        if not self.is_unpacked:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            with Home(self.folder.parent, Path.cwd()).lock(f"{self.name}.lock"):
                if not self.is_unpacked:
                    self._unpack(show)
        return self.folder

    def _unpack(self, show: Callable[[str], None]) -> None:
        scratch = self.folder.with_name(f"{self.name}.{os.getpid()}")
        shutil.rmtree(scratch, ignore_errors=True)
        try:
            show(f"{self.name}: downloading")
            (file,) = retrieve(scratch, [self.module], lambda: None)
            self._check(file)
            show(f"{self.name}: unpacking")
            with tarfile.open(file) as archive:
                archive.extractall(scratch / "all", filter="data")
            (scratch / "all" / "complete").touch()
            shutil.rmtree(self.folder, ignore_errors=True)
            (scratch / "all").replace(self.folder)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _check(self, file: Path) -> None:
        with file.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()
        if found != self.sha256:
            remedy = "the network or the mirror modifies files. Try again, or set another mirror in ~/.m2/settings.xml."
            raise ConnectError(f"The downloaded file is not {self.name} (its SHA-256 is {found}): {remedy}")
