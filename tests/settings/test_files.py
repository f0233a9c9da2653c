"""Where settings come from, and what is said about them."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from connect_core.errors import ConfigError
from connect_core.java.properties import format_properties
from connect_core.settings import WorkerMode, load_worker_settings
from tests.settings.test_worker import DISTRIBUTED


def test_load_reads_the_named_file(tmp_path: Path) -> None:
    file = tmp_path / "worker.properties"
    file.write_text(format_properties(DISTRIBUTED))
    for path, variables in ((file, {}), (None, {"CONNECT_WORKER_CONFIG": str(file)})):
        assert load_worker_settings(path, variables).deployment == "connect-cluster"


def test_load_names_each_useless_key_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "worker.properties"
    file.write_text(format_properties(DISTRIBUTED | {"metric.reporters": "", "bootstrap.server": "x"}))
    with caplog.at_level(logging.WARNING):
        load_worker_settings(file, {})
    said = [record.getMessage().split()[2] for record in caplog.records]
    assert said == ["config.storage.replication.factor", "config.storage.topic", "metric.reporters", "bootstrap.server"]


def test_load_without_a_file_says_where_to_name_it() -> None:
    with pytest.raises(ConfigError, match="CONNECT_WORKER_CONFIG"):
        load_worker_settings(None, {}, WorkerMode.DISTRIBUTED)


def test_load_takes_the_environment_alone() -> None:
    variables = {f"CONNECT_{key.upper().replace('.', '_')}": value for key, value in DISTRIBUTED.items()}
    assert load_worker_settings(None, variables).deployment == "connect-cluster"
