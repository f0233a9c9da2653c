"""What is said when an extra is missing: its name, and how to install it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from connect_core.api.libraries import library
from connect_core.connectors.filesystem.choices import FORMATS
from connect_core.errors import ConfigError, MissingLibraryError
from connect_core.registry import PluginKind, registry

JDBC = [f"io.confluent.connect.jdbc.Jdbc{kind}Connector" for kind in ("Source", "Sink")]


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Take libraries away, and with them the modules that imported them."""
    for name in list(sys.modules):
        if name.startswith("connect_core.connectors.jdbc."):
            monkeypatch.delitem(sys.modules, name)
    return monkeypatch


def connect(folder: Path, missing: str, *arguments: str) -> str:
    """Run ``connect`` where a library is missing → what it says on its way out."""
    code = f"import sys; sys.modules[{missing!r}] = None; from connect_core.cli.start import main; main()"
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    return done.stderr


@pytest.mark.parametrize("name", JDBC)
def test_connector_names_its_extra(name: str, without: pytest.MonkeyPatch) -> None:
    without.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(MissingLibraryError, match=r"sqlalchemy is not installed: pip install 'connect-core\[jdbc\]'"):
        registry().load(PluginKind.CONNECTOR, name)


def test_format_names_its_extra(without: pytest.MonkeyPatch) -> None:
    without.setitem(sys.modules, "fastavro", None)
    with pytest.raises(ConfigError, match=r"fastavro is not installed: pip install 'connect-core\[avro\]'"):
        FORMATS.find("format", "avro")().configure({})


def test_library_that_is_there_is_imported() -> None:
    assert library("json.decoder", "jdbc").JSONDecoder is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("missing", "command", "extra"),
    [
        ("typer", "list", "client"),
        ("sqlalchemy", "list", "client"),
        ("psutil", "quickstart", "dev-stack"),
        ("fastapi", "rest", "rest"),
        ("pyspark", "standalone worker.properties", "standalone"),
    ],
)
def test_command_names_its_extra(tmp_path: Path, missing: str, command: str, extra: str) -> None:
    said = connect(tmp_path, missing, *command.split())
    # Spark is started, and that is logged, before anything else is imported.
    said = "".join(line for line in said.splitlines(keepends=True) if "starting Spark" not in line)
    assert said.startswith(f"connect: {missing} ")
    assert said.endswith(f" is not installed: pip install 'connect-core[{extra}]'\n")
    assert len(said.splitlines()) == 1
