"""The storages of FileSystemSink as servers of this machine, each with a way to copy what readers see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from connect_core.api import WorkerLimits
from connect_core.connectors.filesystem.choices import storage_of
from connect_core.connectors.filesystem.storages import SourceFiles, Storage
from tests.connectors.filesystem.storages.azure.server import AzureServer, azure_running
from tests.connectors.filesystem.storages.gcs.server import GcsServer, gcs_running
from tests.connectors.filesystem.storages.hdfs.cluster import HdfsCluster, hdfs_cluster
from tests.connectors.filesystem.storages.s3.servers import S3Server, moto_running, seaweed_running

__all__ = ["STAGED", "FileStore", "azure_store", "gcs_store", "hdfs_store", "s3_store", "started"]

STAGED = "_connect/+tmp"
"""Where files are, below a folder, until they are published."""


@dataclass(frozen=True, slots=True)
class FileStore:
    """One storage: the settings for a folder, the names of what readers see there, and what a file holds.

    ``staged``: what is staged there, names and uploads that are held back.
    """

    config: Callable[[str], Mapping[str, str]]
    names: Callable[[str], list[str]]
    content: Callable[[str, str], bytes]
    staged: Callable[[str], list[str]]

    def open(self, folder: str) -> Storage:
        """Return the folder as a task or driver opens it."""
        config = self.config(folder)
        return storage_of("path", config["path"]).open(config["path"], config, WorkerLimits(), is_at_work=True)

    def open_source(self, folder: str) -> SourceFiles:
        """Return the folder as FileSystemSource opens it."""
        config = self.config(folder)
        return storage_of("path", config["path"]).open_source(config["path"], config, WorkerLimits())

    def copy(self, folder: str, target: Path) -> list[Path]:
        """Copy the data files of a folder to this machine, with their names below it."""
        places = []
        for name in self.names(folder):
            if not name.endswith("_SUCCESS"):
                places.append(target / name)
                places[-1].parent.mkdir(parents=True, exist_ok=True)
                places[-1].write_bytes(self.content(folder, name))
        return places


def started(kind: str, folder: Path, open_things: ExitStack) -> FileStore:
    """Start a storage's server; ``open_things`` ends it."""
    start = open_things.enter_context
    kinds: Mapping[str, Callable[[], FileStore]] = {
        "local": lambda: _local(folder),
        "s3": lambda: s3_store(S3Server(start(seaweed_running(folder)))),
        "moto": lambda: s3_store(S3Server(start(moto_running()))),
        "gcs": lambda: gcs_store(start(gcs_running(folder))),
        "azure": lambda: azure_store(start(azure_running(folder))),
        "hdfs": lambda: hdfs_store(start(hdfs_cluster(folder))),
    }
    return kinds[kind]()


def _local(folder: Path) -> FileStore:
    def names(name: str) -> list[str]:
        found = (place.relative_to(folder / name) for place in (folder / name).rglob("*") if place.is_file())
        return sorted(place.as_posix() for place in found if place.parts[0] != "_connect")

    def staged(name: str) -> list[str]:
        return sorted(str(place) for place in (folder / name / STAGED).rglob("*") if place.is_file())

    return FileStore(
        lambda name: {"path": str(folder / name)}, names, lambda name, file: (folder / name / file).read_bytes(), staged
    )


def s3_store(server: S3Server) -> FileStore:
    """Return a bucket's storage."""

    def staged(name: str) -> list[str]:
        found = [key for key in server.objects() if key.startswith(f"{name}/{STAGED}/")]
        return found + [f"upload of {key}" for key in server.uploads() if key.startswith(f"{name}/")]

    return FileStore(server.config, server.listed, lambda name, file: server.content(f"{name}/{file}"), staged)


def gcs_store(server: GcsServer) -> FileStore:
    """Return a bucket's storage."""
    return FileStore(server.config, server.listed, server.content, lambda name: server.listed(f"{name}/{STAGED}"))


def azure_store(server: AzureServer) -> FileStore:
    """Return a container's storage."""
    return FileStore(server.config, server.listed, server.content, lambda name: server.listed(f"{name}/{STAGED}"))


def hdfs_store(cluster: HdfsCluster) -> FileStore:
    """Return the storage of folders below the root."""

    def below(name: str) -> list[str]:
        try:
            found = [one.path for one in cluster.client().list_status(f"/{name}", recursive=True) if not one.isdir]
        except FileNotFoundError:
            return []
        return sorted(path.removeprefix(f"/{name}/") for path in found)

    return FileStore(
        lambda name: {"path": f"{cluster.url}/{name}"},
        lambda name: [file for file in below(name) if not file.startswith("_connect/")],
        lambda name, file: bytes(cluster.client().read(f"/{name}/{file}").read()),
        lambda name: below(f"{name}/{STAGED}"),
    )
