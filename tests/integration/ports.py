"""Free ports for servers the tests start themselves."""

from __future__ import annotations

import os
import random
import tempfile
import time
from pathlib import Path

from connect_core.dev.ports import is_free

__all__ = ["free_port"]

_PORTS = range(10_000, 18_000)
"""Below those that outgoing connections may take before the server listens, and those of stacks and brokers."""
_RESERVED_SECONDS = 120.0


def free_port() -> int:
    """Return a TCP port that is free on loopback, and that no other test of this machine is given for a while."""
    folder = Path(tempfile.gettempdir()) / f"connect-test-ports-{os.geteuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    for port in random.SystemRandom().sample(_PORTS, 500):
        if _is_mine(folder / str(port)) and is_free(port):
            return port
    raise AssertionError(f"no port between {_PORTS.start} and {_PORTS.stop} is free")


def _is_mine(file: Path) -> bool:
    """Return whether the port's file was created now: whoever creates it has the port."""
    try:
        if time.time() - file.stat().st_mtime < _RESERVED_SECONDS:
            return False
        file.unlink()
    except FileNotFoundError:
        pass
    try:
        file.touch(0o600, exist_ok=False)
    except FileExistsError:
        return False
    return True
