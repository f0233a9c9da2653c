"""The code that travels to Spark workers."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from connect_core.errors import ConnectError
from connect_core.spark.code import build_archive
from connect_core.spark.remote import remote_runner
from tests.configs.workers import worker

pytestmark = pytest.mark.slow


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A distribution that announces one plugin."""
    site = tmp_path / "site"
    info = site / "travelling-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "travelling.py").write_text("class TravellingConnector: ...\n")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: travelling\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[connect_core.plugins]\nTravelling = travelling:TravellingConnector\n")
    files = ("travelling.py", "travelling-1.0.dist-info/METADATA", "travelling-1.0.dist-info/entry_points.txt")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    monkeypatch.syspath_prepend(str(site))
    build_archive.cache_clear()
    yield site
    build_archive.cache_clear()


def test_archive_is_named_by_what_is_in_it(tmp_path: Path) -> None:
    build_archive.cache_clear()
    first = build_archive(tmp_path / "one")
    build_archive.cache_clear()
    second = build_archive(tmp_path / "two")
    assert first.path.name == second.path.name
    assert "connect_core/task/attempt.py" in zipfile.ZipFile(first.path).namelist()


def test_modules_come_compiled(tmp_path: Path) -> None:
    build_archive.cache_clear()
    archive = build_archive(tmp_path / "out").path
    script = (
        f"import sys; sys.path.insert(0, {str(archive)!r}); import connect_core.errors as found; print(found.__file__)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == f"{archive}/connect_core/errors.pyc"


def test_plugin_is_found_from_the_archive_alone(plugin: Path, tmp_path: Path) -> None:
    archive = build_archive(tmp_path / "out").path
    script = (
        "import sys; from importlib.metadata import entry_points;"
        "found = entry_points(group='connect_core.plugins', name='Travelling');"
        "print([point.load().__module__ for point in found])"
    )
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(archive)!r}); {script}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "['travelling']"
    assert importlib.metadata.version("travelling") == "1.0"


def test_archive_that_somebody_put_there_is_not_taken(tmp_path: Path) -> None:
    build_archive.cache_clear()
    archive = build_archive(tmp_path).path
    good = archive.read_bytes()
    assert archive.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as evil:
        evil.writestr("connect_core/__init__.py", "raise SystemExit('stolen')")
    for private in (True, False):
        archive.unlink()
        archive.write_bytes((tmp_path / "evil.zip").read_bytes())
        archive.chmod(0o600 if private else 0o666)
        build_archive.cache_clear()
        assert build_archive(tmp_path).path.read_bytes() == good


def test_code_is_not_taken_from_a_folder_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("CONNECT_SPARK_REMOTE", "sc://127.0.0.1:9")
    monkeypatch.setenv("CONNECT_GROUP_ID", "g")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (tmp_path / f"connect-code-{os.geteuid()}").symlink_to(theirs)
    build_archive.cache_clear()
    with pytest.raises(ConnectError, match=r"connect-code-\d+ is not a folder"):
        remote_runner(worker())
    assert list(theirs.iterdir()) == []
