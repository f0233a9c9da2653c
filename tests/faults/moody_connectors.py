"""A connector with moods, installed as a distribution of its own: nothing here is imported by the tests."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from connect_core.connectors.file.source import FileStreamSourceConnector


class MoodySource(FileStreamSourceConnector):
    """Follows one file, unless the file of its mood beside it says otherwise."""

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        mood = Path(self._config["file"] + ".mood")
        wish = mood.read_text() if mood.exists() else ""
        if wish == "raise":
            raise ValueError("in a bad mood")
        while wish == "hang" and mood.exists():
            time.sleep(0.1)
        return [] if wish == "none" else super().task_configs(max_tasks)
