"""Parses URLs of object stores: a bucket and a prefix."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from connect_core.errors import ConfigError, DataError

__all__ = ["BucketUrl", "placed"]

_URL = re.compile(r"[A-Za-z]+://([^/\s]+)/?(.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class BucketUrl:
    """The part between ``://`` and the next slash, and the prefix after it."""

    bucket: str
    prefix: str

    @classmethod
    def of(cls, key: str, url: str, form: str) -> BucketUrl:
        """Parse a URL; ``form`` describes the expected form. Raises ConfigError."""
        found = _URL.match(url)
        prefix = "/".join(part for part in (found[2] if found else "").split("/") if part)
        if found is None or any(part in (".", "..") for part in prefix.split("/")) or not prefix.isprintable():
            raise ConfigError(key, url, f"write {form}, without . or .. in the folder")
        return cls(found[1], prefix)

    @property
    def root(self) -> Path:
        """The prefix as a path, relative to the bucket's root."""
        return Path(self.prefix)


def placed(root: Path, name: str) -> str:
    """Return the object of a name within a root. Raises DataError if it leaves the root."""
    if name.startswith("/") or any(part in ("", ".", "..") for part in name.split("/")):
        raise DataError(f"{name} is outside {root}: nothing is written there")
    return (root / name).as_posix()
