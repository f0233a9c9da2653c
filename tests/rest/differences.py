"""Steps of the transcript that are deliberately answered otherwise, with the reason."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["DIFFERENCES"]

DIFFERENCES: dict[str, str] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
