"""A node of a Kubernetes cluster that starts each pod's command as a process of this machine.

It does what the API server shows of a kubelet: it takes the pods that the scheduler binds to it, mounts config maps,
secrets and the account's token, gives them their environment, reports phase, address and exit code, and ends what is
deleted. It leaves out: images and containers, init containers, networks, probes, restarts, limits.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import psutil

from connect_core.dev.maven import spark_home
from connect_core.java_host.java import java_program
from tests.spark.kubernetes_cluster import KubernetesCluster

__all__ = ["Node", "node"]

_NAME = "here"
_ADDRESS = "127.0.0.1"
_MERGE = "application/merge-patch+json"
_CAPACITY = {"cpu": "16", "memory": "32Gi", "pods": "100"}
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_EXECUTOR = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"
_EXECUTOR_OPTIONS = {
    "--driver-url": "SPARK_DRIVER_URL",
    "--executor-id": "SPARK_EXECUTOR_ID",
    "--cores": "SPARK_EXECUTOR_CORES",
    "--app-id": "SPARK_APPLICATION_ID",
    "--hostname": "SPARK_EXECUTOR_POD_IP",
    "--resourceProfileId": "SPARK_RESOURCE_PROFILE_ID",
    "--podName": "SPARK_EXECUTOR_POD_NAME",
}
"""What ``entrypoint.sh`` of Spark's image passes to an executor; it also adds PySpark to PYTHONPATH."""

Pod = Mapping[str, Any]


@dataclass(slots=True)
class Node:
    """The node, and the processes of its pods by their uid."""

    cluster: KubernetesCluster
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    """The names of all pods it started, in order."""
    _reported: set[str] = field(default_factory=set)
    _stopping: threading.Event = field(default_factory=threading.Event)

    def register(self) -> None:
        """Have the cluster know the node, and schedule to it."""
        labels = {"kubernetes.io/hostname": _NAME, "kubernetes.io/os": "linux"}
        made = self.cluster.request("POST", "/api/v1/nodes", {"metadata": {"name": _NAME, "labels": labels}})
        made.raise_for_status()
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": _now()}
        status = {"capacity": _CAPACITY, "allocatable": _CAPACITY, "conditions": [ready]}
        path = f"/api/v1/nodes/{_NAME}/status"
        self.cluster.request("PATCH", path, {"status": status}, kind=_MERGE).raise_for_status()

    def run(self) -> None:
        """Look for pods until ``stop``."""
        while not self._stopping.wait(0.1):
            for pod in self.cluster.get(f"/api/v1/pods?fieldSelector=spec.nodeName={_NAME}")["items"]:
                self._look_after(pod)

    def stop(self) -> None:
        """Look no more, and end all processes."""
        self._stopping.set()
        for process in self.processes.values():
            _end(process)

    def kill(self, name: str) -> None:
        """Kill the process of a pod, as when it runs out of memory."""
        for pod in self.cluster.get(f"/api/v1/pods?fieldSelector=metadata.name={name}")["items"]:
            _end(self.processes[pod["metadata"]["uid"]])

    def _look_after(self, pod: Pod) -> None:
        uid = pod["metadata"]["uid"]
        if "deletionTimestamp" in pod["metadata"]:
            if uid in self.processes:
                _end(self.processes[uid])
            # The last word on a pod is its node's.
            self.cluster.request("DELETE", _path(pod), {"gracePeriodSeconds": 0, "preconditions": {"uid": uid}})
        elif uid not in self.processes:
            try:
                self.processes[uid] = self._started(pod)
            except httpx.HTTPStatusError:
                # What it mounts may come later, as for a kubelet.
                return
            self.seen.append(pod["metadata"]["name"])
            self._report(pod, "Running", {"running": {"startedAt": _now()}})
        elif uid not in self._reported and (code := self.processes[uid].poll()) is not None:
            self._reported.add(uid)
            reason = "Completed" if code == 0 else "Error"
            ended = {"exitCode": code % 256, "reason": reason, "finishedAt": _now()}
            self._report(pod, "Succeeded" if code == 0 else "Failed", {"terminated": ended})

    def _report(self, pod: Pod, phase: str, state: Mapping[str, Any]) -> None:
        (container,) = pod["spec"]["containers"]
        told = {"name": container["name"], "image": container["image"], "imageID": "none", "state": state}
        told |= {"restartCount": 0, "ready": phase == "Running"}
        status = {"phase": phase, "podIP": _ADDRESS, "podIPs": [{"ip": _ADDRESS}], "containerStatuses": [told]}
        status["conditions"] = [{"type": "Ready", "status": str(phase == "Running")}]
        self.cluster.request("PATCH", f"{_path(pod)}/status", {"status": status}, kind=_MERGE)

    def _started(self, pod: Pod) -> subprocess.Popen[bytes]:
        (container,) = pod["spec"]["containers"]
        folder = self.cluster.folder / "pods" / pod["metadata"]["name"]
        folder.mkdir(parents=True, exist_ok=True)
        places = self._mounted(pod, container, folder)

        def here(text: str) -> str:
            for path in sorted(places, key=len, reverse=True):
                text = text.replace(path, str(places[path]))
            return text

        variables = {name: here(value) for name, value in self._environment(pod, container)}
        command = [*container.get("command", ()), *container.get("args", ())]
        if not container.get("command") and command[:1] == ["executor"]:
            command = _executor(variables)
            variables["PYTHONPATH"] = ":".join(map(str, sorted((spark_home() / "python" / "lib").glob("*.zip"))))
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        own = {"PATH": path, "HOME": str(folder), "TMPDIR": str(folder)}
        with (folder / "pod.log").open("wb") as log:
            return subprocess.Popen(
                [_expanded(here(part), variables) for part in command],
                cwd=folder,
                env={**own, **variables},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _environment(self, pod: Pod, container: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        fields = {
            "status.podIP": _ADDRESS,
            "metadata.name": pod["metadata"]["name"],
            "metadata.namespace": pod["metadata"]["namespace"],
        }
        done: dict[str, str] = {}
        for one in container.get("env", ()):
            source = one.get("valueFrom", {})
            if "fieldRef" in source:
                value: str | None = fields[source["fieldRef"]["fieldPath"]]
            elif "secretKeyRef" in source:
                ref = source["secretKeyRef"]
                value = self._secret(pod, ref["name"]).get(ref["key"])
                assert value is not None or ref.get("optional"), f"{ref} is missing"
            else:
                value = _expanded(one.get("value", ""), done)
            if value is not None:
                done[one["name"]] = value
        yield from done.items()

    def _mounted(self, pod: Pod, container: Mapping[str, Any], folder: Path) -> dict[str, Path]:
        """Fill the pod's volumes → its mount paths, and where they are."""
        volumes = {one["name"]: one for one in pod["spec"].get("volumes", ())}
        places = {}
        for mount in container.get("volumeMounts", ()):
            place = places[mount["mountPath"]] = folder / mount["name"]
            place.mkdir(exist_ok=True)
            volume = volumes[mount["name"]]
            if mount["mountPath"] == _ACCOUNT:
                account = pod["spec"]["serviceAccountName"]
                (place / "token").write_text(self.cluster.token_of(pod["metadata"]["namespace"], account))
                (place / "ca.crt").write_text(self.cluster.certificates.read_text())
                continue
            content = {}
            if "configMap" in volume:
                path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/configmaps/{volume['configMap']['name']}"
                content = self.cluster.get(path).get("data", {})
            elif "secret" in volume:
                content = self._secret(pod, volume["secret"]["secretName"])
            names = {one["key"]: one["path"] for one in (volume.get("secret") or {}).get("items", ())}
            for key, text in content.items():
                if not names or key in names:
                    (place / names.get(key, key)).write_text(text)
        return places

    def _secret(self, pod: Pod, name: str) -> dict[str, str]:
        found = self.cluster.get(f"/api/v1/namespaces/{pod['metadata']['namespace']}/secrets/{name}")
        return {key: base64.b64decode(text).decode() for key, text in found.get("data", {}).items()}


def _executor(variables: Mapping[str, str]) -> list[str]:
    options = sorted((name for name in variables if name.startswith("SPARK_JAVA_OPT_")), key=lambda one: int(one[15:]))
    memory = variables["SPARK_EXECUTOR_MEMORY"]
    java = [str(java_program()), *(variables[name] for name in options), f"-Xms{memory}", f"-Xmx{memory}"]
    told = [part for option, name in _EXECUTOR_OPTIONS.items() for part in (option, variables[name])]
    return [*java, "-cp", f"{spark_home()}/jars/*", _EXECUTOR, *told]


def _expanded(text: str, variables: Mapping[str, str]) -> str:
    return re.sub(r"\$\((\w+)\)", lambda found: variables.get(found[1], found[0]), text)


def _path(pod: Pod) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(psutil.NoSuchProcess):
        for one in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                one.kill()
    process.kill()
    process.wait()


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@contextmanager
def node(cluster: KubernetesCluster) -> Iterator[Node]:
    """Have a node that runs pods while the block does."""
    one = Node(cluster)
    one.register()
    thread = threading.Thread(target=one.run, daemon=True)
    thread.start()
    try:
        yield one
    finally:
        one.stop()
        thread.join(30)
