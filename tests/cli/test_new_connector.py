from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


ROOT = Path(__file__).parents[2]


def connect(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "connect_core.cli.app", "new-connector", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def files_of(package: Path) -> list[str]:
    return sorted(str(file.relative_to(package)) for file in package.rglob("*") if file.is_file())


def test_both_kinds_pass_their_contracts(tmp_path: Path) -> None:
    told = connect(tmp_path, "acme-orders")
    assert (told.returncode, told.stderr) == (0, "")
    assert "AcmeOrdersSource and AcmeOrdersSink" in told.stdout
    package = tmp_path / "acme-orders"
    assert files_of(package) == [
        "LICENSE",
        "README.md",
        "acme_orders/__init__.py",
        "acme_orders/sink.py",
        "acme_orders/source.py",
        "pyproject.toml",
        "tests/test_sink.py",
        "tests/test_source.py",
    ]
    assert (package / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    path = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(run, cwd=package, env=path, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
    lint = [sys.executable, "-m", "ruff", "check", "--select", "E,F,I,B,UP", "--line-length", "120", "."]
    assert subprocess.run(lint, cwd=package, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(("option", "kind", "other"), [("--source", "Source", "sink"), ("--sink", "Sink", "source")])
def test_one_kind_is_alone(tmp_path: Path, option: str, kind: str, other: str) -> None:
    told = connect(tmp_path, "shop", option, "--folder", "made/here")
    assert told.returncode == 0, told.stderr
    package = tmp_path / "made" / "here" / "shop"
    assert [name for name in files_of(package) if other in name] == []
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    target = f"shop.{kind.lower()}:Shop{kind}Connector"
    assert project["entry-points"] == {"connect_core.plugins": {f"shop.Shop{kind}Connector": target}}
    assert project["license"] == "Apache-2.0"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Acme", "use lower-case letters"),
        ("../acme", "use lower-case letters"),
        ("json", "which already exists"),
        ("connect-core", "which already exists"),
        ("file-stream", "beside org.apache.kafka.connect.file.FileStreamSourceConnector"),
    ],
)
def test_bad_name_is_refused_in_one_line(tmp_path: Path, name: str, reason: str) -> None:
    told = connect(tmp_path, name)
    assert told.returncode == 1
    assert told.stderr.startswith("connect: ")
    assert reason in told.stderr
    assert len(told.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_existing_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    told = connect(tmp_path, "shop")
    assert (told.returncode, told.stderr) == (
        1,
        "connect: shop exists: choose another name or --folder, or remove it.\n",
    )
    assert files_of(tmp_path) == []
