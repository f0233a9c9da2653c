"""A generated package in an environment of its own: installed, found, and run in Spark."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from tests.integration.test_standalone import plain_environment, write_worker
from tests.integration.topics import Topics

pytestmark = pytest.mark.servers

UV = Path(sys.executable).parent / "uv"


def run(folder: Path, *command: str | Path) -> str:
    done = subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout


def install(folder: Path, package: Path) -> Path:
    """Install a package into a new environment that sees this one's libraries → its Python."""
    home = folder / "environment"
    run(folder, UV, "venv", "--quiet", "--python", sys.executable, home)
    python = home / "bin" / "python"
    site = Path(run(folder, python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    # addsitedir follows the .pth files in there too: connect-core may be installed as editable.
    (site / "shared.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    run(folder, UV, "pip", "install", "--quiet", "--no-deps", "--python", python, package)
    return python


def test_generated_connectors_run_in_spark(folder: Path, topics: Topics) -> None:
    run(folder, sys.executable, "-m", "connect_core.cli.app", "new-connector", "acme-orders")
    package = folder / "acme-orders"
    python = install(folder, package)
    topic = topics.create(1)
    source = {"connector.class": "AcmeOrdersSource", "tasks.max": "1", "topic": topic, "count": "25", "batch.size": "4"}
    sink = {"connector.class": "AcmeOrdersSink", "tasks.max": "1", "topics": topic, "path": "out"}
    work = folder / "work"
    work.mkdir()
    for name, config in (("rows", source), ("files", sink)):
        (work / f"{name}.json").write_text(json.dumps({"name": name, "config": config}))
    worker = write_worker(work, topics.bootstrap)
    command: list[str | Path] = [
        python,
        "-m",
        "connect_core.cli.app",
        "standalone",
        worker,
        work / "rows.json",
        work / "files.json",
    ]
    with (work / "standalone.log").open("w") as log:
        process = subprocess.Popen(command, cwd=work, env=plain_environment(), stdout=log, stderr=subprocess.STDOUT)
    try:
        values = topics.read(topic, 25, seconds=150)
        rows = lines_of(work / "out", 25)
        process.send_signal(signal.SIGTERM)
        assert process.wait(90) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    told = (work / "standalone.log").read_text()[-3000:]
    expected = [{"number": number, "text": f"row {number}"} for number in range(1, 26)]
    assert [json.loads(value or b"") for value in values] == expected, told
    assert rows == expected, told


def lines_of(folder: Path, at_least: int) -> list[object]:
    """Return the rows in a folder's files, waiting until there are so many."""
    end = time.monotonic() + 120
    while True:
        files = sorted(folder.glob("*.jsonl"))
        rows: list[object] = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        if len(rows) >= at_least or time.monotonic() > end:
            return rows
        time.sleep(0.2)
