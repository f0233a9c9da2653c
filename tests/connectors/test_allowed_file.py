from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import connect_core
from connect_core.api import WorkerLimits
from connect_core.connectors.allowed_file import AllowedFile, allowed_folder
from connect_core.errors import ConfigError
from tests.connectors.contexts import limits_of


def content(file: AllowedFile) -> bytes:
    descriptor = file.open(os.O_RDONLY)
    try:
        return os.read(descriptor, 100)
    finally:
        os.close(descriptor)


def test_relative_paths_begin_at_the_first_root(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text(name)
    limits = WorkerLimits((tmp_path / "a", tmp_path / "b"))
    assert content(AllowedFile.resolve("file", "f", limits)) == b"a"
    assert content(AllowedFile.resolve("file", str(tmp_path / "b" / "f"), limits)) == b"b"


def test_a_link_to_a_root_is_that_root(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "root").symlink_to(tmp_path / "data")
    (tmp_path / "data" / "f").write_text("x")
    assert content(AllowedFile.resolve("file", "f", limits_of(tmp_path / "root"))) == b"x"


@pytest.mark.parametrize("place", ["file", "folder"])
def test_a_link_put_there_after_the_check_is_refused(tmp_path: Path, place: str) -> None:
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "file").write_text("secret")
    (root / "folder" / "file").write_text("fine")
    allowed = AllowedFile.resolve("file", "folder/file", limits_of(root))
    if place == "file":
        (root / "folder" / "file").unlink()
        (root / "folder" / "file").symlink_to(tmp_path / "secrets" / "file")
    else:
        (root / "folder").rename(root / "other")
        (root / "folder").symlink_to(tmp_path / "secrets")
    with pytest.raises(ConfigError, match="not a regular file"):
        allowed.open(os.O_RDONLY)


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY | os.O_CREAT])
def test_a_pipe_put_there_after_the_check_is_refused(tmp_path: Path, flags: Any) -> None:
    allowed = AllowedFile.resolve("file", "f", limits_of(tmp_path))
    os.mkfifo(tmp_path / "f")
    with pytest.raises(ConfigError, match="not a regular file"):
        allowed.open(flags)


def test_proc_and_dev_are_never_allowed() -> None:
    for value in ("/proc/self/environ", "/dev/null", "/sys/kernel/profiling"):
        with pytest.raises(ConfigError, match="allows"):
            AllowedFile.resolve("file", value, WorkerLimits((Path("/"),)))


@pytest.fixture
def own(tmp_path: Path) -> WorkerLimits:
    """A root with what is the worker's own, and what is not."""
    for name in ("state/data", "dags", "venv/bin", "links", "fine"):
        (tmp_path / "root" / name).mkdir(parents=True)
    (tmp_path / "root" / "venv" / "pyvenv.cfg").touch()
    (tmp_path / "root" / "key").write_text("secret")
    (tmp_path / "root" / "links" / "dags").symlink_to(tmp_path / "root" / "dags")
    (tmp_path / "root" / "links" / "key").symlink_to(tmp_path / "root" / "key")
    root = tmp_path / "root"
    return WorkerLimits((root, root / "state" / "data"), file_excluded=(root / "state", root / "dags", root / "key"))


@pytest.mark.parametrize(
    "value",
    [
        "state/secrets/key",
        "state/new",
        "dags/evil.py",
        "key",
        "links/dags/evil.py",
        "links/key",
        "fine/../dags/evil.py",
        "venv/lib/python3/site-packages/evil.pth",
    ],
)
def test_what_is_the_workers_own_is_refused_under_every_root(own: Any, value: str) -> None:
    for given in (value, str(own.file_roots[0] / value)):
        with pytest.raises(ConfigError, match="belongs to the worker"):
            AllowedFile.resolve("file", given, own)


def test_a_root_within_what_is_the_workers_own_is_allowed(own: Any) -> None:
    for value in ("state/data/out.txt", "fine/out.txt", "keys"):
        assert AllowedFile.resolve("file", value, own).path == own.file_roots[0] / value


def test_a_folder_that_holds_what_is_the_workers_own_takes_no_names_of_topics(own: Any) -> None:
    with pytest.raises(ConfigError, match=r"contains .*dags, which belongs to the worker"):
        allowed_folder("path", str(own.file_roots[0]), own)
    assert allowed_folder("path", "fine", own) == own.file_roots[0] / "fine"


def test_code_and_hidden_entries_of_the_home_folder_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for value in (f"{tmp_path}/.bashrc", f"{tmp_path}/.ssh/authorized_keys", f"{tmp_path}/.local/lib/x.py"):
        with pytest.raises(ConfigError, match="belongs to the worker"):
            AllowedFile.resolve("file", value, limits_of(tmp_path))
    for module in (connect_core, pytest):
        with pytest.raises(ConfigError, match="belongs to the worker"):
            AllowedFile.resolve("file", str(module.__file__), WorkerLimits((Path("/"),)))
    assert AllowedFile.resolve("file", "data/.hidden", limits_of(tmp_path)).path == tmp_path / "data" / ".hidden"
