"""Generated secrets of a stack, one file each, readable by its owner only."""

from __future__ import annotations

import base64
import os
import secrets
from pathlib import Path

from connect_core.dev.home import Home

__all__ = ["secret", "secret_file", "write_private"]


def secret_file(home: Home, name: str) -> Path:
    """Return the file of a secret, generating it if it does not exist yet."""
    file = home.folder("secrets") / name
    if not file.exists():
        file.parent.chmod(0o700)
        # The format of a Fernet key, 32 bytes as URL-safe base64, serves every use.
        key = base64.urlsafe_b64encode(os.urandom(32)).decode() if name.endswith("key") else secrets.token_hex(20)
        write_private(file, key + "\n")
    return file


def secret(home: Home, name: str) -> str:
    """Return a secret's text."""
    return secret_file(home, name).read_text().strip()


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner can read, atomically."""
    scratch = file.with_name(f".{file.name}.{os.getpid()}")
    scratch.unlink(missing_ok=True)
    with os.fdopen(os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as target:
        target.write(text)
    scratch.replace(file)
