"""Names in the temporary folder, which every user of the machine can take first."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from connect_core.dev.home import Home
from connect_core.dev.ports import choose
from connect_core.errors import ConnectError
from connect_core.settings.private_folder import is_private_file, private_folder


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir(mode=0o777)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_folder_is_of_its_owner_only(shared: Path) -> None:
    folder = private_folder("code")
    assert folder == shared / f"connect-code-{os.geteuid()}"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert private_folder("code") == folder


@pytest.mark.parametrize("name", ["code", "ports"])
def test_name_that_somebody_took_is_refused(shared: Path, tmp_path: Path, name: str) -> None:
    folder = shared / f"connect-{name}-{os.geteuid()}"
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o700)
    folder.symlink_to(theirs)
    with pytest.raises(ConnectError, match=r"is not a folder.*TMPDIR"):
        private_folder(name)
    folder.unlink()
    folder.touch()
    with pytest.raises(ConnectError, match="is not a folder"):
        private_folder(name)
    folder.unlink()
    folder.mkdir(mode=0o700)
    folder.chmod(0o770)
    with pytest.raises(ConnectError, match="has mode 0770"):
        private_folder(name)


def test_folder_that_others_could_only_look_into_is_closed_to_them(shared: Path) -> None:
    folder = shared / f"connect-code-{os.geteuid()}"
    folder.mkdir()
    folder.chmod(0o755)
    assert private_folder("code") == folder
    assert folder.stat().st_mode & 0o777 == 0o700


def test_folder_of_another_user_is_refused(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    (shared / f"connect-code-{mine + 1}").mkdir(mode=0o700)
    with pytest.raises(ConnectError, match=f"belongs to user {mine}:"):
        private_folder("code")


def test_ports_are_not_kept_in_a_folder_of_others(shared: Path, tmp_path: Path) -> None:
    (shared / f"connect-ports-{os.geteuid()}").symlink_to(tmp_path)
    with pytest.raises(ConnectError, match="TMPDIR"):
        choose(Home(tmp_path / ".connect", tmp_path), "kafka", "port", 1, lambda line: None)
    assert not (tmp_path / "lock").exists()


def test_only_ones_own_files_are_private(tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert not is_private_file(file)
    file.touch(mode=0o600)
    assert is_private_file(file)
    file.chmod(0o644)
    assert not is_private_file(file)
    (tmp_path / "link").symlink_to(file)
    assert not is_private_file(tmp_path / "link")
