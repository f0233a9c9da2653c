"""Folders and jars of ``plugin.path`` that cannot be used are named, not passed over in silence."""

from __future__ import annotations

import os
from pathlib import Path
from zipfile import ZipFile

import pytest

from connect_core.configs import load_worker
from connect_core.errors import ConfigError
from connect_core.java_host.settings import HostSettings
from connect_core.java_plugins.catalog import Catalog
from connect_core.java_plugins.plugins import JavaPlugins, missing_places

WORKER = """bootstrap.servers=x
key.converter=org.apache.kafka.connect.json.JsonConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
offset.storage.file.filename=o
"""


def trouble_of(folder: Path, *path: Path) -> str | None:
    """Return what is wrong with a path in which discovery found no plugin, and no error."""
    return JavaPlugins(HostSettings(folder, tuple(map(str, path))), _kept={"catalog": Catalog(())}).trouble


def test_a_place_that_is_not_there_is_named_with_the_others_that_are(tmp_path: Path) -> None:
    (tmp_path / "good").mkdir()
    with ZipFile(tmp_path / "good" / "whole.jar", "w") as jar:
        jar.writestr("a.txt", "a")
    assert trouble_of(tmp_path, tmp_path / "good") is None
    found = trouble_of(tmp_path, tmp_path / "good", tmp_path / "gone")
    assert (
        found
        == f"plugin.path names {tmp_path / 'gone'}, which does not exist here: correct it, or copy the plugins there"
    )


def test_a_place_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    assert "may not be read: give this user the permission" in missing_places([str(tmp_path)])[0]


def test_a_jar_that_was_cut_off_is_named(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "cut.jar").write_bytes(b"PK")
    assert trouble_of(tmp_path, tmp_path) == f"{tmp_path / 'deep' / 'cut.jar'} is no jar: copy it here again"


@pytest.mark.parametrize("key", ["plugin.path", "java.plugin.libs"])
def test_the_home_of_nobody_is_refused_by_name(tmp_path: Path, key: str) -> None:
    (tmp_path / "worker.properties").write_text(f"{WORKER}plugin.path=/a\n{key}=~nobody-4711/x\n")
    with pytest.raises(ConfigError, match=f"~nobody-4711/x for configuration {key}: there is no such user"):
        JavaPlugins.of(load_worker(tmp_path / "worker.properties", {}))
