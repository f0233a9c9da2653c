"""The transcript sent to a running server by its own replayer, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.rest.differences import DIFFERENCES

__all__ = ["assert_replayed"]

_HERE = Path(__file__).parent
_TIMEOUT, _SHORT = 120, 5
"""Seconds to wait for what must come true, on a busy machine too, and for what cannot."""


def assert_replayed(base: str, folder: Path, *, header: str | None = None, seconds: float = 800) -> None:
    """Send every step; fail with the replayer's words unless all but the named differences are answered alike.

    ``folder`` must be visible to the connectors' tasks.
    """
    steps = _patient(json.loads((_HERE / "transcript.json").read_text("utf-8")))
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as transcript:
        json.dump(steps, transcript)
        transcript.flush()
        command = [sys.executable, str(_HERE / "replay.py"), base, transcript.name, "--dir", str(folder)]
        command += ["--skip-ids", ",".join(DIFFERENCES), *(["--header", header] if header else [])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    last = next(reversed(done.stdout.splitlines()), "")
    expected = f"{len(steps['steps']) - len(DIFFERENCES)} passed, 0 failed"
    assert (last, done.returncode) == (expected, 0), done.stdout + done.stderr


def _patient(transcript: Any) -> Any:
    for step in transcript["steps"]:
        if "wait_until" in step:
            step["wait_until"]["timeout_s"] = _SHORT if step["id"] in DIFFERENCES else _TIMEOUT
    return transcript
