"""A source of the lines of a file, checked by what its topic holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from connect_core.interval.values import ConnectorType
from tests.faults.exports import Export

__all__ = ["Feed"]


class Feed(Export):
    """A ``FileStreamSource`` of a file that the test itself writes, into a topic."""

    kind = ConnectorType.SOURCE

    @property
    def path(self) -> Path:
        """The file that is read."""
        return self.world.folder / f"{self.name}.in"

    def write(self, first: int, count: int, partitions: int = 2) -> None:
        """Append numbered lines."""
        with self.path.open("a") as target:
            target.writelines(f"line {number}\n" for number in range(first, first + count))

    def sequences(self) -> Mapping[str, Sequence[Sequence[int]]]:
        """Return the numbers of each partition of the topic, in their order, read_committed."""
        found: dict[str, list[int]] = {}
        for partition, value in self.world.topics.placed(self.topic):
            number = int(json.loads(value or b"{}")["line"].split()[1])
            found.setdefault(f"partition {partition}", []).append(number)
        return {name: [numbers] for name, numbers in found.items()}

    def _config(self, **config: str) -> dict[str, str]:
        return {
            "name": self.name,
            "connector.class": "FileStreamSource",
            "file": str(self.path),
            "topic": self.topic,
            "transforms": "wrap",
            "transforms.wrap.type": "org.apache.kafka.connect.transforms.HoistField$Value",
            "transforms.wrap.field": "line",
            "interval.max.records": "400",
            **{key.replace("__", "."): value for key, value in config.items()},
        }
