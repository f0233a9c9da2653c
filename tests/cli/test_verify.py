"""``connect verify``: what it prints, and what it exits with."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from connect_core.api.recount import Difference
from connect_core.cli.app import application
from connect_core.cli.verify import print_verification
from connect_core.herder.topic_counts import PartitionCount
from connect_core.herder.verification import Verification
from tests.herder.exports import Export
from tests.herder.harness import Harness

pytestmark = pytest.mark.slow


@pytest.fixture
def export(deployment: Harness, tmp_path: Path) -> Export:
    """Two intervals of a sink."""
    made = Export(deployment, tmp_path).create()
    made.run([{"n": 1}, {"n": 2}])
    made.run([{"n": 3}])
    return made


def connect(*arguments: str) -> Result:
    return CliRunner().invoke(application(arguments[0]), arguments)


def test_exit_says_whether_it_differs(export: Export) -> None:
    done = connect("verify", "a")
    assert (done.exit_code, "no difference" in done.stdout) == (0, True)
    assert "a: 2 intervals (1 to 2), 3 rows in 2 files or tables, 3 counted" in done.stdout
    export.files()[0].unlink()
    done = connect("verify", "a")
    assert (done.exit_code, "1 difference" in done.stdout, "missing" in done.stdout) == (1, True, True)
    done = connect("verify", "a", "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, [one["kind"] for one in found["differences"]]) == (1, ["missing"])
    assert connect("verify", "a", "--from", "2").exit_code == 0
    assert connect("verify", "a", "--to", "1").exit_code == 1


def test_what_was_not_recounted_is_no_success(export: Export, tmp_path: Path) -> None:
    config = {"connector.class": "FileStreamSink", "tasks.max": "1", "file": str(tmp_path / "b"), "topics": "t"}
    export.harness.create("b", config)
    done = connect("verify", "b")
    assert (done.exit_code, "cannot be recounted" in done.stdout) == (2, True)


def printed(found: Verification) -> str:
    console = Console(file=StringIO(), width=120, highlight=False)
    print_verification(console, found)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_long_lists_are_cut_and_said_to_be() -> None:
    found = Verification("a", is_complete=False, partitions=[PartitionCount("t", 0, "", 0, 9, 9)])
    for number in range(60):
        found.differ(Difference("missing", f"file-{number}", "1 rows"))
    text = printed(found)
    assert "time ran out" in text
    assert "file-49" in text
    assert "file-50" not in text
    assert "10 more differences" in text
    assert "60 differences" in text
