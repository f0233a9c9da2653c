import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from connect_core.cli.app import COMMANDS

pytestmark = pytest.mark.slow


def _connect(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "connect_core.cli.app", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("name", COMMANDS)
def test_command_lies_where_the_table_says(name: str) -> None:
    module, _, attribute = COMMANDS[name][0].partition(":")
    assert hasattr(import_module(module), attribute)


def test_help_lists_every_command(tmp_path: Path) -> None:
    told = _connect(tmp_path, "--help")
    assert told.returncode == 0
    assert all(name in told.stdout for name in COMMANDS)


def test_help_imports_no_command(tmp_path: Path) -> None:
    code = "\n".join(
        [
            "import sys",
            "from connect_core.cli.app import main",
            "sys.argv = ['connect', '--help']",
            "try: main()",
            "except SystemExit: print({'psycopg', 'confluent_kafka', 'pyspark', 'airflow'} & sys.modules.keys())",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("set()\n")


def test_unknown_command_is_refused_with_its_neighbour(tmp_path: Path) -> None:
    done = _connect(tmp_path, "doctr")
    assert done.returncode == 2
    assert "Did you mean 'doctor'?" in done.stderr


def test_error_of_ours_is_one_sentence(tmp_path: Path) -> None:
    done = _connect(tmp_path, "dev", "status", "zookeeper")
    assert done.returncode == 1
    assert done.stderr.startswith("connect: There is no service 'zookeeper': use one of postgres, kafka")
    assert len(done.stderr.splitlines()) == 1


def test_down_without_a_stack_says_so(tmp_path: Path) -> None:
    assert _connect(tmp_path, "dev", "down").stdout == "No stack is running here.\n"
