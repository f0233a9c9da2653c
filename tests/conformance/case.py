"""A recorded case and where it stands."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Case", "load_cases"]

Json = Any
"""A JSON value as the standard library reads it."""


@dataclass(frozen=True, slots=True)
class Case:
    """One call on a class of Connect: its input and what it did."""

    area: str
    id: str
    kind: str
    java_class: str | None
    config: Json
    input: Json
    expect: Json

    @property
    def expected_error(self) -> Json | None:
        """The expected error's class, message and stage, if an error is expected."""
        return self.expect["error"] if isinstance(self.expect, dict) and "error" in self.expect else None

    @property
    def setup(self) -> str:
        """What cases share that can run in one batch: class and configuration."""
        operation = self.input.get("op") if isinstance(self.input, dict) else None
        return json.dumps([self.kind, self.java_class, self.config, operation], sort_keys=True)


def load_cases(directory: Path, areas: Iterable[str] = ()) -> list[Case]:
    """Return the cases of all ``*.json`` files, or of those of some areas."""
    wanted = set(areas)
    return [
        case
        for path in sorted(directory.glob("*.json"))
        for case in _cases(json.loads(path.read_text("utf-8")))
        if not wanted or case.area in wanted
    ]


def _cases(content: Json) -> list[Case]:
    area = content["area"]
    return [
        Case(area, row["id"], row["kind"], row["class"], row["config"], row["input"], row["expect"])
        for row in content["cases"]
    ]
