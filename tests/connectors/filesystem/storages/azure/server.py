"""The emulator Azurite with one container, and what a reader of it sees."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.integration.ports import free_port
from tests.programs import azurite

if TYPE_CHECKING:
    from azure.storage.blob import ContainerClient

__all__ = ["KEY", "AzureServer", "azure_running"]

CONTAINER, ACCOUNT = "lake-of-tests", "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The one that every Azurite has."""


@dataclass(frozen=True, slots=True)
class AzureServer:
    """A running server; ``folder``: a name below the container."""

    endpoint: str

    def client(self, container: str = CONTAINER) -> ContainerClient:
        """Return a client of Microsoft's own."""
        from azure.storage.blob import ContainerClient

        return ContainerClient(self.endpoint, container, {"account_name": ACCOUNT, "account_key": KEY}, retry_total=0)

    def url(self, folder: str, container: str = CONTAINER) -> str:
        """Return the URL of a folder as connectors have it."""
        return f"abfss://{container}@{ACCOUNT}.dfs.core.windows.net/{folder}"

    def config(self, folder: str) -> dict[str, str]:
        """Return the settings of the storage."""
        return {"path": self.url(folder), "azure.endpoint": self.endpoint, "azure.account.key": KEY}

    def listed(self, folder: str) -> list[str]:
        """Return what readers see of a folder, its hidden part left out."""
        prefix = f"{folder}/"
        names = (blob.name.removeprefix(prefix) for blob in self.client().list_blobs(name_starts_with=prefix))
        return sorted(name for name in names if not name.startswith("_connect/"))

    def content(self, folder: str, name: str) -> bytes:
        """Return the bytes of a blob."""
        data: bytes = self.client().download_blob(f"{folder}/{name}").readall()
        return data

    def make_container(self) -> None:
        """Wait for the server and make the container."""
        from azure.core.exceptions import ServiceRequestError

        end = time.monotonic() + 60
        while True:
            try:
                self.client().create_container()
                return
            except ServiceRequestError:
                assert time.monotonic() < end
                time.sleep(0.2)


@contextmanager
def azure_running(folder: Path) -> Iterator[AzureServer]:
    """Run it for the block → the server."""
    port = free_port()
    command = [str(azurite().path), "--blobHost", "127.0.0.1", "--blobPort", str(port), "--inMemoryPersistence"]
    with (folder / "log").open("wb") as log:
        options = ["--skipApiVersionCheck", "--disableTelemetry"]
        process = subprocess.Popen([*command, *options], cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    try:
        server = AzureServer(f"http://127.0.0.1:{port}/{ACCOUNT}")
        server.make_container()
        yield server
    finally:
        process.kill()
        process.wait(30)
