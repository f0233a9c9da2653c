"""The storages of FileSystemSink as servers of this machine, each with a way to copy what readers see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.connectors.filesystem import azure_server, gcs_server
from tests.connectors.filesystem.hdfs_cluster import hdfs_cluster
from tests.connectors.filesystem.storages.s3.servers import S3Server, moto_running, seaweed_running

__all__ = ["FileStore", "started"]

_STAGED = "_connect/+tmp"


@dataclass(frozen=True, slots=True)
class FileStore:
    """One storage: the settings for a folder, the names of what readers see there, and what a file holds.

    ``staged``: what is staged there, names and uploads that are held back.
    """

    config: Callable[[str], Mapping[str, str]]
    names: Callable[[str], list[str]]
    content: Callable[[str, str], bytes]
    staged: Callable[[str], list[str]]

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
    return {"local": _local, "s3": _s3, "moto": _moto, "gcs": _gcs, "azure": _azure, "hdfs": _hdfs}[kind](
        folder, open_things
    )


def _local(folder: Path, open_things: ExitStack) -> FileStore:
    def names(name: str) -> list[str]:
        found = (place.relative_to(folder / name) for place in (folder / name).rglob("*") if place.is_file())
        return sorted(place.as_posix() for place in found if place.parts[0] != "_connect")

    def staged(name: str) -> list[str]:
        return sorted(str(place) for place in (folder / name / _STAGED).rglob("*") if place.is_file())

    return FileStore(
        lambda name: {"path": str(folder / name)}, names, lambda name, file: (folder / name / file).read_bytes(), staged
    )


def _s3(folder: Path, open_things: ExitStack) -> FileStore:
    return _of_s3(S3Server(open_things.enter_context(seaweed_running(folder))))


def _moto(folder: Path, open_things: ExitStack) -> FileStore:
    return _of_s3(S3Server(open_things.enter_context(moto_running())))


def _of_s3(server: S3Server) -> FileStore:
    def staged(name: str) -> list[str]:
        found = [key for key in server.objects() if key.startswith(f"{name}/{_STAGED}/")]
        return found + [f"upload of {key}" for key in server.uploads() if key.startswith(f"{name}/")]

    return FileStore(server.config, server.listed, lambda name, file: server.content(f"{name}/{file}"), staged)


def _gcs(folder: Path, open_things: ExitStack) -> FileStore:
    url = open_things.enter_context(gcs_server.gcs_running(folder))
    return FileStore(
        lambda name: {"path": gcs_server.url_of(Path(f"/{name}")), "gcs.endpoint": url},
        lambda name: gcs_server.listed(url, Path(name)),
        lambda name, file: gcs_server.content(url, Path(name), file),
        lambda name: gcs_server.listed(url, Path(name, _STAGED)),
    )


def _azure(folder: Path, open_things: ExitStack) -> FileStore:
    url = open_things.enter_context(azure_server.azure_running(folder))
    return FileStore(
        lambda name: {"path": azure_server.url_of(Path(f"/{name}")), **azure_server.config_of(url)},
        lambda name: azure_server.listed(url, Path(name)),
        lambda name, file: azure_server.content(url, Path(name), file),
        lambda name: azure_server.listed(url, Path(name, _STAGED)),
    )


def _hdfs(folder: Path, open_things: ExitStack) -> FileStore:
    cluster = open_things.enter_context(hdfs_cluster(folder))

    def below(name: str) -> list[str]:
        try:
            found = [one.path for one in cluster.client().list_status(f"/{name}", recursive=True) if not one.isdir]
        except FileNotFoundError:
            return []
        return sorted(path.removeprefix(f"/{name}/") for path in found)

    def names(name: str) -> list[str]:
        return [file for file in below(name) if not file.startswith("_connect/")]

    return FileStore(
        lambda name: {"path": f"{cluster.url}/{name}"},
        names,
        lambda name, file: bytes(cluster.client().read(f"/{name}/{file}").read()),
        lambda name: below(f"{name}/{_STAGED}"),
    )
