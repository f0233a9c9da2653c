"""What Airflow finds of an installed connect-core by itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from connect_core.dag.naming import HOUSEKEEPING_DAG_ID, dag_id_of
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.store import Database, connectors, migrate
from tests.packaging.environments import ROOT

pytestmark = pytest.mark.slow

# Airflow 3.2 made functions of the manager's tables.
PLUGINS = """
import json
from airflow import plugins_manager
if hasattr(plugins_manager, "_get_plugins"):
    plugins, errors = plugins_manager._get_plugins()
    apps = plugins_manager.get_fastapi_plugins()[0]
else:
    plugins_manager.initialize_fastapi_plugins()
    plugins, errors, apps = plugins_manager.plugins, plugins_manager.import_errors, plugins_manager.fastapi_apps
print("FOUND", json.dumps([[plugin.name for plugin in plugins], errors, [app["url_prefix"] for app in apps]]))
"""
PROVIDER = """
import json
from airflow.providers_manager import ProvidersManager
found = ProvidersManager().providers["connect-core"]
print("FOUND", json.dumps([found.version, found.data["name"]]))
"""
BUNDLE = """
import json
from airflow.dag_processing.bundles.manager import DagBundlesManager
try:
    from airflow.dag_processing.dagbag import DagBag
except ImportError:
    from airflow.models.dagbag import DagBag
bundle = DagBundlesManager().get_bundle("connect")
bundle.initialize()
found = DagBag(bundle.path)
print("FOUND", json.dumps([sorted(found.dags), found.import_errors]))
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An Airflow beside connect-core, which was told the bundle and the worker's settings, and no more."""
    database = tmp_path / "connect.db"
    opened = Database(f"sqlite:///{database}", pooled=False)
    migrate(opened)
    with opened.write() as connection:
        connectors.create(connection, "a", connectors.NewConfig(ConnectorType.SINK, {}), TargetState.STARTED)
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("AIRFLOW", "CONNECT_"))}
    bundles = [{"name": "connect", "classpath": "connect_core.dag.bundle.ConnectDagBundle", "kwargs": {}}]
    return kept | {
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST": json.dumps(bundles),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "CONNECT_DATABASE_URL": f"sqlite:///{database}",
        "CONNECT_WORKER_CONFIG": str(ROOT / "config" / "worker.properties"),
    }


def ask(environment: dict[str, str], code: str) -> Any:
    """Run code beside Airflow → what it found."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    (found,) = (line.removeprefix("FOUND ") for line in done.stdout.splitlines() if line.startswith("FOUND "))
    return json.loads(found)


@pytest.mark.parametrize("folder", [None, ROOT / "plugins"], ids=["no-folder", "thin-file"])
def test_plugin_is_found_once(environment: dict[str, str], folder: Path | None) -> None:
    if folder is not None:
        environment["AIRFLOW__CORE__PLUGINS_FOLDER"] = str(folder)
    names, errors, mounted = ask(environment, PLUGINS)
    assert names.count("connect") == 1
    assert errors == {}
    assert "/connect" in mounted


def test_provider_is_listed(environment: dict[str, str]) -> None:
    assert ask(environment, PROVIDER) == [version("connect-core"), "Kafka Connect"]


def test_bundle_has_the_dags(environment: dict[str, str]) -> None:
    assert ask(environment, BUNDLE) == [[dag_id_of("a"), HOUSEKEEPING_DAG_ID], {}]
