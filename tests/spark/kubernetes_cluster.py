"""A real control plane of Kubernetes, and one node that starts the processes of its pods on this machine.

etcd, API server, controllers and scheduler are built from the Go modules of Kubernetes, once per user. The node
(``kubernetes_node.py``) has no containers: it says what it leaves out.
"""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from connect_core.settings.user_cache import user_cache
from tests.integration.ports import free_port

__all__ = ["KubernetesCluster", "control_plane", "kubernetes_cluster"]

VERSION = "1.34.4"
_SOURCES = Path(__file__).with_name("kubernetes_control_plane")
_HOST = "127.0.0.1"
_SECONDS = 120.0
_BUILD_SECONDS = 2400.0
_TOKEN = "administrator-of-a-test"
_FLAGS = "-s -w " + " ".join(
    f"-X k8s.io/component-base/version.git{name}={value}"
    for name, value in (("Version", f"v{VERSION}"), ("Major", "1"), ("Minor", "34"))
)


def control_plane() -> Path:
    """Return the program that is all servers of a control plane. Skips the test without Go."""
    program = user_cache() / f"kubernetes-{VERSION}"
    if not program.exists():
        if shutil.which("go") is None:
            pytest.skip("there is no go, 1.24 or later, to build Kubernetes with: Debian's packages are older")
        scratch = program.with_name(f"{program.name}.{time.monotonic_ns()}")
        shutil.copytree(_SOURCES, scratch)
        try:
            _go(scratch, "mod", "tidy")
            _go(scratch, "build", "-trimpath", "-ldflags", _FLAGS, "-o", "kubernetes", ".")
            (scratch / "kubernetes").rename(program)
        finally:
            shutil.rmtree(scratch)
    return program


def _go(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        ["go", *arguments], cwd=folder, capture_output=True, text=True, timeout=_BUILD_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


class KubernetesCluster:
    """The servers, and what a test asks the API server as its administrator or as a service account."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.folder = folder
        self._program = program
        self._port, self._store_port = free_port(), free_port()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._client: httpx.Client | None = None

    @property
    def url(self) -> str:
        """The address of the API server."""
        return f"https://{_HOST}:{self._port}"

    @property
    def certificates(self) -> Path:
        """The certificate by which clients know the API server."""
        return self.folder / "certificates" / "apiserver.crt"

    def start(self) -> None:
        """Start all servers, and wait until the API server is ready."""
        self._write_keys()
        place = f"http://{_HOST}:{self._store_port}"
        peers = f"http://{_HOST}:{free_port()}"
        told = {"listen-client-urls": place, "advertise-client-urls": place, "listen-peer-urls": peers}
        self._run("etcd", **told, **{"data-dir": self.folder / "etcd", "unsafe-no-fsync": "true"})
        keys = {"service-account-key-file": "accounts.pub", "service-account-signing-key-file": "accounts.key"}
        self._serve(
            "kube-apiserver",
            **{"etcd-servers": place, "secure-port": self._port, "advertise-address": _HOST},
            **{"endpoint-reconciler-type": "none", "authorization-mode": "RBAC", "allow-privileged": "true"},
            **{"service-account-issuer": "https://kubernetes.default.svc", "service-cluster-ip-range": "10.0.0.0/24"},
            **{"token-auth-file": self.folder / "tokens.csv", **{key: self.folder / at for key, at in keys.items()}},
        )
        self._await_ready()
        (self.folder / "kubeconfig").write_text(json.dumps(self._kubeconfig()))
        own = {"kubeconfig": self.folder / "kubeconfig", "leader-elect": "false"}
        self._serve(
            "kube-controller-manager",
            **own,
            **{"secure-port": free_port(), "node-monitor-grace-period": "24h", "root-ca-file": self.certificates},
            **{"service-account-private-key-file": self.folder / "accounts.key"},
        )
        self._serve("kube-scheduler", **own, **{"secure-port": free_port()})

    def stop(self) -> None:
        """End all of it."""
        if self._client is not None:
            self._client.close()
        for process in reversed(self._processes):
            process.kill()
            process.wait()

    def request(
        self, method: str, path: str, body: Any = None, token: str = _TOKEN, kind: str = "application/json"
    ) -> httpx.Response:
        """Send a request as the administrator, or as whom the token says."""
        assert self._client is not None
        headers = {"Authorization": f"Bearer {token}", "Content-Type": kind}
        content = None if body is None else json.dumps(body).encode()
        return self._client.request(method, f"{self.url}{path}", content=content, headers=headers)

    def get(self, path: str) -> Any:
        """Return what is there. Raises for anything but success."""
        return self.request("GET", path).raise_for_status().json()

    def apply(self, namespace: str, one: Mapping[str, Any], *, dry_run: bool = False) -> httpx.Response:
        """Have an object as given, as ``kubectl apply --server-side --validate=strict`` does."""
        group = one["apiVersion"] if "/" in one["apiVersion"] else ""
        root = f"/apis/{group}" if group else "/api/v1"
        kinds = {each["kind"]: each["name"] for each in self.get(root)["resources"] if "/" not in each["name"]}
        path = f"{root}/namespaces/{namespace}/{kinds[one['kind']]}/{one['metadata']['name']}"
        asked = f"{path}?fieldManager=tests&fieldValidation=Strict&force=true{'&dryRun=All' if dry_run else ''}"
        return self.request("PATCH", asked, one, kind="application/apply-patch+yaml")

    def create_namespace(self, name: str, **labels: str) -> None:
        """Create a namespace, and wait for what the controllers put into each."""
        self.request("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}}).raise_for_status()
        account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
        self.wait(lambda: self.request("GET", account).is_success, f"namespace {name} has no default account")

    def token_of(self, namespace: str, account: str) -> str:
        """Return a token of a service account, as its pods have it."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        token: str = self.request("POST", path, asked).raise_for_status().json()["status"]["token"]
        return token

    def wait(self, look: Any, what: str, seconds: float = _SECONDS) -> None:
        """Wait until ``look()`` is true."""
        end = time.monotonic() + seconds
        while not look():
            assert time.monotonic() < end, f"{what}\n{self.log()}"
            time.sleep(0.2)

    def log(self) -> str:
        """Return the ends of the servers' and the pods' logs."""
        return "\n".join(f"--- {file}\n{file.read_text()[-3000:]}" for file in sorted(self.folder.rglob("*.log")))

    def _await_ready(self) -> None:
        self.wait(self.certificates.exists, "the API server has no certificate")
        # The server makes its certificate; the file has the authority that signed it, too.
        self._client = httpx.Client(verify=ssl.create_default_context(cafile=str(self.certificates)), timeout=30)

        def is_ready() -> bool:
            try:
                return self.request("GET", "/readyz").is_success
            except httpx.TransportError:
                return False

        self.wait(is_ready, "the API server is not ready")

    def _serve(self, name: str, **options: object) -> None:
        self._run(name, **{"bind-address": _HOST, "cert-dir": self.folder / "certificates", **options})

    def _run(self, name: str, **options: object) -> None:
        flags = [f"--{key}={value}" for key, value in options.items()]
        with (self.folder / f"{name}.log").open("wb") as log:
            self._processes.append(subprocess.Popen([self._program, name, *flags], stdout=log, stderr=log))

    def _write_keys(self) -> None:
        key = rsa.generate_private_key(65537, 2048)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        (self.folder / "accounts.key").write_bytes(private)
        (self.folder / "accounts.pub").write_bytes(public)
        (self.folder / "tokens.csv").write_text(f"{_TOKEN},administrator,1,system:masters\n")

    def _kubeconfig(self) -> Mapping[str, Any]:
        cluster = {"server": self.url, "certificate-authority": str(self.certificates)}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "administrator", "user": {"token": _TOKEN}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "administrator"}}],
            "current-context": "test",
        }


@contextmanager
def kubernetes_cluster(folder: Path) -> Iterator[KubernetesCluster]:
    """Have a control plane while the block runs; it has no node."""
    with ExitStack() as stack:
        cluster = KubernetesCluster(folder, control_plane())
        stack.callback(cluster.stop)
        cluster.start()
        yield cluster
