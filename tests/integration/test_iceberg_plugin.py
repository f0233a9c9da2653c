"""Why Apache Iceberg's own sink is refused as a Java plugin: where this fails, look whether it may be allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from connect_core.dev.java_runtime import java_runtime
from connect_core.errors import ConnectError
from connect_core.java_host.settings import HostSettings
from connect_core.java_plugins.plugins import JavaPlugins
from tests.java_plugins.apache_iceberg import APACHE, iceberg_jars
from tests.java_plugins.equipment import flow, loaded, silent
from tests.java_plugins.test_sink import PART, Context

pytestmark = [pytest.mark.servers, pytest.mark.matrix, pytest.mark.timeout(300)]


def test_its_task_finds_no_consumer_group(bootstrap: str, tmp_path: Path) -> None:
    plugins, warehouse = tmp_path / "plugins", tmp_path / "warehouse"
    plugins.mkdir()
    (plugins / "iceberg").symlink_to(iceberg_jars())
    java = JavaPlugins(HostSettings(java_runtime(silent), (str(plugins),), "service_load", "256m"))
    task = loaded(java, APACHE, "sink").tasks()
    task.take_over(flow())
    task.initialize(Context())
    task.start(
        {
            "name": "lake",
            "iceberg.tables": "db.orders",
            "iceberg.catalog.type": "hadoop",
            "iceberg.catalog.warehouse": str(warehouse),
            "iceberg.kafka.bootstrap.servers": bootstrap,
        }
    )
    try:
        with pytest.raises(ConnectError, match="Cannot retrieve members for consumer group: connect-lake"):
            task.open([PART])
    finally:
        task.stop()
