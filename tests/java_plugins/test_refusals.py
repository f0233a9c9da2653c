"""Connectors that cannot run here say so, and what to use instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from connect_core.dev.java_runtime import java_runtime
from connect_core.errors import ConfigError
from connect_core.java_host.settings import HostSettings
from connect_core.java_plugins.plugins import JavaPlugins
from connect_core.java_plugins.refusals import refuse_impossible
from connect_core.testing.contexts import MemoryConnectorContext
from tests.java_plugins.apache_iceberg import APACHE, iceberg_jars
from tests.java_plugins.equipment import loaded, silent


def test_the_iceberg_sinks_name_the_native_one() -> None:
    with pytest.raises(ConfigError, match=r"native IcebergSink of the same name.*java\.plugins\.preferred"):
        refuse_impossible(APACHE)
    with pytest.raises(ConfigError, match=rf"set connector\.class to {APACHE}"):
        refuse_impossible("io.tabular.iceberg.connect.IcebergSinkConnector")


def test_other_classes_are_not_refused() -> None:
    refuse_impossible("io.debezium.connector.jdbc.JdbcSinkConnector")


@pytest.mark.slow
@pytest.mark.matrix
def test_apache_iceberg_s_own_jar_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    # A folder of plugin.path is one plugin, with all its jars.
    (tmp_path / "iceberg").symlink_to(iceberg_jars())
    plugins = JavaPlugins(HostSettings(java_runtime(silent), (str(tmp_path),), "service_load", "256m"))
    sink = loaded(plugins, APACHE, "sink")()
    sink.initialize(MemoryConnectorContext())
    config = {"name": "lake", "topics": "t", "iceberg.tables": "db.t", "iceberg.catalog.type": "hadoop"}
    for attempt in (sink.validate, sink.start):
        with pytest.raises(ConfigError, match="native IcebergSink"):
            attempt(config)
