"""What deliberately differs from the real worker: a handful of steps, each with its reason."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.rest.differences import DIFFERENCES

README = Path(__file__).parents[2] / "connect_core" / "rest" / "README.md"
TRANSCRIPT = Path(__file__).with_name("transcript.json")


def test_differences_are_few_and_known() -> None:
    steps = {step["id"] for step in json.loads(TRANSCRIPT.read_text("utf-8"))["steps"]}
    assert steps >= set(DIFFERENCES)
    assert len(DIFFERENCES) <= 5
    assert set(re.findall(r"^\| `([\w-]+)` \|", README.read_text("utf-8"), re.MULTILINE)) == set(DIFFERENCES)
