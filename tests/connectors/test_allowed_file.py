from __future__ import annotations

import os
from pathlib import Path

import pytest

from connect_core.api import WorkerLimits
from connect_core.connectors.allowed_file import AllowedFile
from connect_core.errors import ConfigError
from tests.connectors.contexts import limits_of


def content(file: AllowedFile) -> bytes:
    descriptor = file.open(os.O_RDONLY)
    try:
        return os.read(descriptor, 100)
    finally:
        os.close(descriptor)


def test_relative_paths_begin_at_the_first_root(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text(name)
    limits = WorkerLimits((tmp_path / "a", tmp_path / "b"))
    assert content(AllowedFile.resolve("file", "f", limits)) == b"a"
    assert content(AllowedFile.resolve("file", str(tmp_path / "b" / "f"), limits)) == b"b"


def test_a_link_to_a_root_is_that_root(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "root").symlink_to(tmp_path / "data")
    (tmp_path / "data" / "f").write_text("x")
    assert content(AllowedFile.resolve("file", "f", limits_of(tmp_path / "root"))) == b"x"


@pytest.mark.parametrize("place", ["file", "folder"])
def test_a_link_put_there_after_the_check_is_refused(tmp_path, place):
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
    with pytest.raises(ConfigError, match="no regular file"):
        allowed.open(os.O_RDONLY)


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY | os.O_CREAT])
def test_a_pipe_put_there_after_the_check_is_refused(tmp_path, flags):
    allowed = AllowedFile.resolve("file", "f", limits_of(tmp_path))
    os.mkfifo(tmp_path / "f")
    with pytest.raises(ConfigError, match="no regular file"):
        allowed.open(flags)


def test_proc_and_dev_are_never_allowed():
    for value in ("/proc/self/environ", "/dev/null", "/sys/kernel/profiling"):
        with pytest.raises(ConfigError, match="allows"):
            AllowedFile.resolve("file", value, WorkerLimits((Path("/"),)))
