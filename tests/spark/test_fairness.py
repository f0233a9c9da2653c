"""A small connector beside a big one that has more tasks than Spark has slots."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.servers

_JOBS = """
import json, threading, time
from connect_core.spark.session import local_session

session = local_session("fairness")
def job(tasks, seconds):
    def work(batches):
        time.sleep(seconds)
        return batches
    session.range(0, tasks, 1, tasks).mapInPandas(work, "id long").collect()

def big():
    # So many that they take all 16 slots five times.
    job(80, 0.5)
    took["big"] = time.monotonic() - began

took = {}
job(16, 0.0)
thread, began = threading.Thread(target=big), time.monotonic()
thread.start()
time.sleep(0.4)
job(1, 0.0)
took["small"] = time.monotonic() - began
thread.join()
print(json.dumps(took))
"""


def test_a_small_job_does_not_wait_for_all_tasks_of_a_big_one() -> None:
    """It takes the first slot that is free; first in, first out, it would begin with the big one's last tasks."""
    done = subprocess.run([sys.executable, "-c", _JOBS], capture_output=True, text=True, timeout=240, check=True)
    took = json.loads(done.stdout.splitlines()[-1])
    assert took["small"] < 0.6 * took["big"]
