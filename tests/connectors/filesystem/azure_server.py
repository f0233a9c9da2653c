"""The emulator Azurite with one container, and what a reader of it sees."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.integration.ports import free_port
from tests.programs import azurite

if TYPE_CHECKING:
    from azure.storage.blob import ContainerClient

__all__ = ["KEY", "azure_running", "client_of", "config_of", "content", "listed", "url_of"]

CONTAINER, ACCOUNT = "lake-of-tests", "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The one that every Azurite has."""


@contextmanager
def azure_running(folder: Path) -> Iterator[str]:
    """Run it for the block → its address."""
    port = free_port()
    command = [str(azurite().path), "--blobHost", "127.0.0.1", "--blobPort", str(port), "--inMemoryPersistence"]
    with (folder / "log").open("wb") as log:
        options = ["--skipApiVersionCheck", "--disableTelemetry"]
        process = subprocess.Popen([*command, *options], cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    try:
        url = f"http://127.0.0.1:{port}/{ACCOUNT}"
        make_container(url)
        yield url
    finally:
        process.kill()
        process.wait(30)


def make_container(endpoint: str) -> None:
    from azure.core.exceptions import ServiceRequestError

    end = time.monotonic() + 60
    while True:
        try:
            client_of(endpoint).create_container()
            return
        except ServiceRequestError:
            assert time.monotonic() < end
            time.sleep(0.2)


def client_of(endpoint: str, container: str = CONTAINER) -> ContainerClient:
    from azure.storage.blob import ContainerClient

    return ContainerClient(endpoint, container, {"account_name": ACCOUNT, "account_key": KEY}, retry_total=0)


def config_of(endpoint: str) -> dict[str, str]:
    return {"azure.endpoint": endpoint, "azure.account.key": KEY}


def url_of(folder: Path, container: str = CONTAINER) -> str:
    return f"abfss://{container}@{ACCOUNT}.dfs.core.windows.net{folder}"


def listed(endpoint: str, folder: Path) -> list[str]:
    prefix = f"{str(folder).strip('/')}/"
    names = (blob.name.removeprefix(prefix) for blob in client_of(endpoint).list_blobs(name_starts_with=prefix))
    return sorted(name for name in names if not name.startswith("_connect/"))


def content(endpoint: str, folder: Path, name: str) -> bytes:
    data: bytes = client_of(endpoint).download_blob(f"{str(folder).strip('/')}/{name}").readall()
    return data
