"""The folder that keeps a stack's state."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from connect_core.dev.home import Home


def lock(home: Home) -> None:
    with home.lock():
        pass


@pytest.mark.parametrize(
    "use", [Home.create, lock, lambda home: home.folder("kafka")], ids=["create", "lock", "folder"]
)
@pytest.mark.parametrize("is_old", [False, True])
def test_nobody_else_reads_or_lists_it(tmp_path: Path, use: Callable[[Home], None], is_old: bool) -> None:
    home = Home(tmp_path / ".connect", tmp_path)
    if is_old:
        home.path.mkdir(mode=0o755)
        home.path.chmod(0o755)
    use(home)
    mode = stat.S_IMODE(home.path.stat().st_mode)
    assert mode & 0o700 == 0o700
    assert mode & 0o066 == 0
    assert {stat.S_IMODE(one.stat().st_mode) & 0o077 for one in home.path.iterdir() if one.is_dir()} <= {0}
