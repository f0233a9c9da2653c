"""What deliberately differs from the real worker: a handful of steps, each with its reason."""

from __future__ import annotations

import json
from pathlib import Path

from tests.rest.differences import DIFFERENCES

TRANSCRIPT = Path(__file__).with_name("transcript.json")


def test_differences_are_few_and_known() -> None:
    steps = {step["id"] for step in json.loads(TRANSCRIPT.read_text("utf-8"))["steps"]}
    assert steps >= set(DIFFERENCES)
    assert len(DIFFERENCES) <= 5
    assert all(len(reason) > 50 for reason in DIFFERENCES.values())
