"""The embedded Spark server's Python daemon, from which workers are forked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from connect_core.dev.home import Home
from connect_core.dev.spark import SPARK

_COUNT = """
import os, sys
import preloaded_daemon
print(len(os.listdir("/proc/self/task")))
"""

_USE = """
import sys
import preloaded_daemon
from connect_core.converters.json.read import rows
assert "polars._plr" not in sys.modules
print(rows.pl.Series(["a"]).str.contains("a").to_list(), rows.pl.Series is sys.modules["polars"].Series)
import polars
print(polars is sys.modules["polars"], rows.pl.__version__ == polars.__version__)
"""


def environment_of_daemon(folder: Path) -> dict[str, str]:
    """Return the environment in which Spark starts the daemon."""
    home = Home(folder / ".connect", folder)
    for name in SPARK.ports:
        (home.folder("spark") / name).write_text("1")
    return dict(SPARK.launch(home, {}).environment)


def test_workers_import_polars_where_they_use_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _USE]
    used = subprocess.run(command, env=environment_of_daemon(tmp_path), capture_output=True, text=True, check=True)
    assert used.stdout.splitlines() == ["[True] True", "True True"]


def test_workers_are_forked_from_a_process_of_one_thread(tmp_path: Path) -> None:
    environment = environment_of_daemon(tmp_path)
    counted = subprocess.run(
        [sys.executable, "-c", _COUNT], env=environment, capture_output=True, text=True, check=True
    )
    assert counted.stdout.split() == ["1"]
    names = ("OPENBLAS_NUM_THREADS", "JE_ARROW_MALLOC_CONF")
    plain = {name: text for name, text in environment.items() if name not in names}
    counted = subprocess.run([sys.executable, "-c", _COUNT], env=plain, capture_output=True, text=True, check=True)
    assert int(counted.stdout) > 1, "the settings are needed no more"
