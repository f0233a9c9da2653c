"""Where the tests' programs come from; ``python -m tests.newcomer`` fetches them in earnest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import programs
from tests.programs import chromium, prepare


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The only folder with commands."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("CONNECT_TEST_PACKAGES", str(tmp_path / "packages"))
    programs._attempt.cache_clear()
    return folder


def command(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_an_installed_program_is_taken(path: Path) -> None:
    command(path, "chromium", "true")
    assert chromium().path == path / "chromium"
    assert prepare(chromium) == f"chromium: {path / 'chromium'}"


def test_without_packages_the_tests_are_skipped_with_the_reason(path: Path) -> None:
    line = prepare(chromium)
    assert "apt-get install chromium" in line
    assert "there is no apt-get to fetch it with" in line


def test_a_failed_download_is_asked_for_once_and_leaves_nothing(path: Path, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    command(path, "apt-get", f"echo asked >>{asked}; echo 'E: no route to host' >&2; exit 100")
    command(path, "dpkg-deb", "true")
    assert "E: no route to host" in prepare(chromium)
    assert "E: no route to host" in prepare(chromium)
    assert asked.read_text() == "asked\n"
    assert not (tmp_path / "packages" / "chromium").exists()
