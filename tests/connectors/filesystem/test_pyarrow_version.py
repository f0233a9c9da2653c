"""Settings that need a newer pyarrow than the wheel's lowest."""

from __future__ import annotations

import pyarrow as pa
import pytest

from connect_core.connectors.filesystem.choices import FORMATS
from connect_core.errors import ConfigError


@pytest.mark.parametrize(
    ("name", "key", "value", "least"),
    [("csv", "csv.null", "NULL", 26), ("parquet", "parquet.bloom.filter.columns", "a", 24)],
)
def test_older_pyarrow_refuses_the_setting(
    monkeypatch: pytest.MonkeyPatch, name: str, key: str, value: str, least: int
) -> None:
    made = FORMATS.find("format", name)
    monkeypatch.setattr(pa, "__version__", f"{least}.0.0")
    made().configure({key: value})
    monkeypatch.setattr(pa, "__version__", f"{least - 1}.0.1")
    made().configure({})
    with pytest.raises(ConfigError, match=f"{key}: it needs pyarrow {least} on driver and workers"):
        made().configure({key: value})
