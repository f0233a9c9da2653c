"""The chart, and connectors by ``spark-submit``, on a real control plane of Kubernetes.

In ``make matrix``, as the control plane is built for half an hour first. ``tests/packaging/test_helm.py`` is what
``make test`` has of it: the chart by Kubernetes' schemas.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from airflow.providers.apache.spark.hooks import spark_submit

from connect_core.interval.runs import RunStatus
from tests.faults.executor_python import executor_python
from tests.faults.exports import LineExport
from tests.faults.world import CHECKOUT, World
from tests.packaging.test_helm import rendered
from tests.spark.kubernetes_cluster import KubernetesCluster, kubernetes_cluster
from tests.spark.kubernetes_node import Node, node
from tests.spark.submission import run

pytestmark = [pytest.mark.servers, pytest.mark.matrix, pytest.mark.timeout(3600)]

NAMESPACE = "connectors"
ACCOUNT = "demo-task"
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}
ROWS = 2000


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubernetesCluster]:
    with kubernetes_cluster(tmp_path_factory.mktemp("kubernetes")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def machine(cluster: KubernetesCluster) -> Iterator[Node]:
    with node(cluster) as machine:
        yield machine


@pytest.fixture(scope="module")
def objects(cluster: KubernetesCluster) -> list[dict[str, Any]]:
    """The chart's objects, installed but for those that run for ever; the last one is the pod of a task."""
    cluster.create_namespace(NAMESPACE)
    found = rendered()["objects"]
    assert isinstance(found, list)
    for one in found:
        if one["kind"] not in ("Deployment", "Pod"):
            assert cluster.apply(NAMESPACE, one).is_success
    return found


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with World(tmp_path_factory.mktemp("world"), Random(1), services=("postgres", "kafka")) as world:
        yield world


@pytest.fixture(scope="module")
def settings(
    cluster: KubernetesCluster, objects: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """Spark's settings, with the login of the chart's account and no other."""
    folder = tmp_path_factory.mktemp("account")
    (folder / "token").write_text(cluster.token_of(NAMESPACE, ACCOUNT))
    python = str(executor_python(folder / "python", "jdbc", "spark"))
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.executor.cores": "2",
        "spark.executor.instances": "1",
        "spark.executor.memory": "512m",
        "spark.kubernetes.authenticate.caCertFile": str(cluster.certificates),
        "spark.kubernetes.authenticate.oauthTokenFile": str(folder / "token"),
        "spark.kubernetes.container.image": "connect-core:0.1.0",
        "spark.kubernetes.namespace": NAMESPACE,
        "spark.pyspark.driver.python": python,
        "spark.pyspark.python": python,
    }


@pytest.fixture
def pod(
    world: World,
    cluster: KubernetesCluster,
    settings: Mapping[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Enter the environment of a pod in which Airflow's KubernetesExecutor runs a connector."""
    given = world.environment
    worker = Path(given.get("CONNECT_WORKER_CONFIG", CHECKOUT / "config" / "worker.properties")).read_text()
    config = tmp_path / "worker.properties"
    config.write_text(
        "\n".join([worker, "spark.mode=submit", *(f"{key}={value}" for key, value in settings.items()), ""])
    )
    host, _, port = cluster.url.rpartition(":")
    connection = {"conn_type": "spark", "host": f"k8s://{host}", "port": int(port), "extra": {"deploy-mode": "client"}}
    own = {
        **given,
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps(connection),
        "CONNECT_WORKER_CONFIG": str(config),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    # Where the driver runs here, the provider only asks whether Airflow's package for Kubernetes is installed.
    monkeypatch.setattr(spark_submit, "kube_client", object(), raising=False)


def test_chart_is_accepted_where_pods_are_restricted(cluster: KubernetesCluster) -> None:
    cluster.create_namespace("restricted", **RESTRICTED)
    for one in rendered()["objects"]:
        answer = cluster.apply("restricted", one)
        assert answer.is_success, answer.text
        # What a pod template lacks is a warning where it is applied: no pod of it would be created.
        assert "warning" not in answer.headers, answer.headers["warning"]
    pods = "/api/v1/namespaces/restricted/pods?labelSelector=component=rest"
    cluster.wait(lambda: cluster.get(pods)["items"], "no pod of the Deployment was created")
    cluster.request("DELETE", "/api/v1/namespaces/restricted").raise_for_status()


def test_misspelt_field_is_refused(cluster: KubernetesCluster, objects: list[dict[str, Any]]) -> None:
    (service,) = [one for one in objects if one["kind"] == "Service"]
    answer = cluster.apply(NAMESPACE, {**service, "spec": {**service["spec"], "selektor": {}}}, dry_run=True)
    assert not answer.is_success
    assert "selektor: field not declared in schema" in answer.text


def test_account_of_tasks_may_not_read_secrets(cluster: KubernetesCluster, objects: list[dict[str, Any]]) -> None:
    token = cluster.token_of(NAMESPACE, ACCOUNT)

    def asked(path: str) -> httpx.Response:
        return cluster.request("GET", path, token=token)

    assert asked(f"/api/v1/namespaces/{NAMESPACE}/pods").is_success
    assert asked(f"/api/v1/namespaces/{NAMESPACE}/secrets").status_code == 403
    assert asked("/api/v1/namespaces/default/pods").status_code == 403


def test_every_record_is_exported_once(
    cluster: KubernetesCluster,
    machine: Node,
    world: World,
    pod: None,
) -> None:
    export = LineExport(world, "on-kubernetes")
    export.begin()
    before = len(machine.seen)
    for turn in (0, 1):
        export.write(turn * ROWS, ROWS)
        outcome = run(export.name, turn)
        assert (outcome.status, outcome.records) == (RunStatus.DRAINED, ROWS), cluster.log()
    assert sorted(export.rows()) == list(range(2 * ROWS))
    assert len(machine.seen) == before + 2
    await_no_executors(cluster)


def test_executor_that_is_killed_is_replaced(
    cluster: KubernetesCluster,
    machine: Node,
    world: World,
    pod: None,
) -> None:
    export = LineExport(world, "killed-on-kubernetes")
    export.begin()
    export.write(0, 20 * ROWS)
    before = len(machine.seen)

    def kill_the_first() -> None:
        cluster.wait(lambda: len(machine.seen) > before, "no executor was started")
        time.sleep(3)
        machine.kill(machine.seen[before])

    killer = threading.Thread(target=kill_the_first)
    killer.start()
    outcome = run(export.name, 0)
    killer.join()
    assert (outcome.status, outcome.records) == (RunStatus.DRAINED, 20 * ROWS), cluster.log()
    assert sorted(export.rows()) == list(range(20 * ROWS))
    assert len(machine.seen) == before + 2
    await_no_executors(cluster)


def await_no_executors(cluster: KubernetesCluster) -> None:
    """Wait until Spark has deleted its pods."""
    path = f"/api/v1/namespaces/{NAMESPACE}/pods"
    cluster.wait(lambda: not cluster.get(path)["items"], "executors are left")
