"""Formats, partitioners and storages of other wheels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pyarrow as pa
import pytest

from connect_core.api.batch import Batch
from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType
from connect_core.connectors.filesystem import choices
from connect_core.connectors.filesystem.formats import JsonLinesFormat
from connect_core.connectors.filesystem.partitioners import Partitioner, constant
from connect_core.connectors.filesystem.sink.connector import FileSystemSinkConnector
from connect_core.connectors.filesystem.storages import LocalStorage
from tests.connectors.contexts import DriverSide, limits_of
from tests.connectors.filesystem.export import Export, numbered


class ShoutedFormat(JsonLinesFormat):
    """JSON with another ending."""

    definition = ConfigDef(JsonLinesFormat.definition).define("loud.ending", ConfigType.STRING, doc="How names end.")
    extension = "loud"

    def setup(self, settings: AbstractConfig) -> None:
        super().setup(settings)
        self.extension = settings.get_string("loud.ending") or ""


class OnePartitioner(Partitioner):
    """One folder for all."""

    def folders(self, batch: Batch) -> pa.Array:
        return constant("all", len(batch))


class CellarStorage(LocalStorage):
    """A storage with URLs and a setting of its own."""

    definition = ConfigDef().define("cellar.key", ConfigType.STRING, doc="What opens it.")

    @classmethod
    def open(cls, url, config, limits, *, is_at_work=False):  # type: ignore[no-untyped-def]
        return super().open(url.removeprefix("cellar://"), config, limits, is_at_work=is_at_work)


POINTS = {
    "formats": {"loud": "ShoutedFormat", "broken": "Absent", "wrong": "OnePartitioner"},
    "partitioners": {"one": "OnePartitioner"},
    "storages": {"cellar": "CellarStorage"},
}


@pytest.fixture(autouse=True)
def announced(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def entry_points(group: str) -> list[metadata.EntryPoint]:
        named = POINTS[group.rpartition(".")[2]].items()
        return [metadata.EntryPoint(name, f"{__name__}:{attribute}", group) for name, attribute in named]

    choices._entry_points.cache_clear()
    monkeypatch.setattr(metadata, "entry_points", entry_points)
    yield
    choices._entry_points.cache_clear()


def test_parts_of_other_wheels_are_used(tmp_path: Path) -> None:
    parts = {"format": "loud", "loud.ending": "txt", "partitioner": "one", "path": "cellar://out", "cellar.key": "k"}
    export = Export(tmp_path, **parts)
    export.run([*numbered([{"a": 1}]), *numbered([{"a": 2}], partition=1)])
    assert export.files() == [f"t/all/t+{number}+{0:020}+{1:020}.txt" for number in (0, 1)]
    assert [(export.out / name).read_text() for name in export.files()] == ['{"a":1}\n', '{"a":2}\n']


@pytest.mark.parametrize(
    ("config", "key", "message"),
    [
        ({"format": "loud"}, "loud.ending", "Missing required"),
        ({"path": "cellar://x"}, "cellar.key", "Missing required"),
        ({"path": "attic://x"}, "path", "choose one of file, .*cellar, or install the package"),
        ({"format": "absent"}, "format", "choose one of parquet, .*, raw, .*, broken, loud, wrong"),
        ({"format": "broken"}, "format", "cannot be loaded.*reinstall its package"),
        ({"format": "wrong"}, "format", "is not a Format; ask the authors"),
    ],
)
def test_settings_and_mistakes_of_other_wheels_are_told(
    tmp_path: Path, config: dict[str, str], key: str, message: str
) -> None:
    connector = FileSystemSinkConnector()
    connector.initialize(DriverSide(limits_of(tmp_path)))
    found = {one.name: one.error_messages for one in connector.validate({"path": "x", **config}) if one.error_messages}
    assert list(found) == [key]
    (text,) = found[key]
    assert re.search(message, text)
