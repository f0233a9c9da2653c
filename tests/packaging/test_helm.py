"""The Helm chart in config/helm: it lints, renders, and Kubernetes' schemas accept what it makes. Nothing runs it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from connect_core.configs import load_worker
from connect_core.settings import WorkerMode
from tests.programs import helm

pytestmark = pytest.mark.slow

_CHART = Path(__file__).parents[2] / "config" / "helm" / "connect-core"
_SCRIPT = Path(__file__).with_name("helm_chart.py")


def rendered(chart: Path = _CHART, **values: Any) -> dict[str, Any]:
    python = helm()
    command = [str(python.path), str(_SCRIPT), str(chart), json.dumps(values)]
    done = subprocess.run(command, env=python.environment(), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_chart_renders_objects_that_kubernetes_accepts() -> None:
    found = rendered()
    assert (found["lint"], found["refused"], found["wrong"]) == ([], "", [])
    kinds = sorted(one["kind"] for one in found["objects"])
    assert kinds == [
        *("ConfigMap", "ConfigMap", "Deployment", "Pod", "Role", "RoleBinding", "Service", "ServiceAccount"),
    ]


def test_misspelt_field_is_found(tmp_path: Path) -> None:
    for file in _CHART.rglob("*.*"):
        target = tmp_path / "chart" / file.relative_to(_CHART)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(file.read_text().replace("replicas: {{", "replica: {{"))
    assert any("replica" in wrong for wrong in rendered(tmp_path / "chart")["wrong"])


def test_worker_settings_of_the_chart_are_a_workers(tmp_path: Path) -> None:
    objects = rendered(worker={"group.id": "of-the-chart"})["objects"]
    (text,) = [one["data"]["worker.properties"] for one in objects if "worker.properties" in one.get("data", {})]
    file = tmp_path / "worker.properties"
    file.write_text(text)
    (deployment,) = [one for one in objects if one["kind"] == "Deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    names = {one["name"] for one in container["env"]}
    url = {"CONNECT_DATABASE_URL": "postgresql://u:p@h/d"}
    worker = load_worker(file, url, WorkerMode.DISTRIBUTED)
    assert names >= url.keys()
    assert worker.values["group.id"] == "of-the-chart"
    assert worker.spark_properties["spark.master"] == "k8s://https://kubernetes.default.svc"
    assert container["command"] == ["connect", "distributed", "/etc/connect/worker.properties"]


def test_secrets_in_the_workers_settings_are_refused() -> None:
    assert "database.url" in rendered(worker={"database.url": "postgresql://u:p@h/d"})["refused"]
