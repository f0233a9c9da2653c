from pathlib import Path

import pytest

from connect_core.dev.java import find_java
from connect_core.errors import ConnectError


def _java(folder: Path, answer: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{answer}' >&2\n")
    program.chmod(0o755)
    return program


def test_java_missing_says_how_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConnectError, match=r"Java was not found \(PATH\)\. Install Java 17"):
        find_java()


def test_java_home_without_java_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ConnectError, match=f"JAVA_HOME={tmp_path}"):
        find_java()


@pytest.mark.parametrize(("answer", "version"), [('openjdk version "11.0.2"', 11), ('java version "1.8.0_392"', 8)])
def test_java_too_old_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str, version: int) -> None:
    _java(tmp_path, answer)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ConnectError, match=f"is Java {version}; Kafka and Spark need 17"):
        find_java()


@pytest.mark.parametrize("answer", ['openjdk version "17.0.15" 2025-04-15', 'openjdk version "25" 2025-09-16'])
def test_java_new_enough_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str) -> None:
    program = _java(tmp_path, answer)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java() == program
