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


def test_workers_are_forked_from_a_process_of_one_thread(tmp_path: Path) -> None:
    home = Home(tmp_path / ".connect", tmp_path)
    for name in SPARK.ports:
        (home.folder("spark") / name).write_text("1")
    environment = dict(SPARK.launch(home, {}).environment)
    counted = subprocess.run(
        [sys.executable, "-c", _COUNT], env=environment, capture_output=True, text=True, check=True
    )
    assert counted.stdout.split() == ["1"]
    names = ("OPENBLAS_NUM_THREADS", "JE_ARROW_MALLOC_CONF")
    plain = {name: text for name, text in environment.items() if name not in names}
    counted = subprocess.run([sys.executable, "-c", _COUNT], env=plain, capture_output=True, text=True, check=True)
    assert int(counted.stdout) > 1, "the settings are needed no more"
