"""Calls to HDFS, each with a time limit and clear errors, by hdfs-native, which needs no Java."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from connect_core.connectors.filesystem.storages.hdfs.address import HdfsAddress
from connect_core.connectors.filesystem.storages.hdfs.errors import translated
from connect_core.errors import ConfigError

if TYPE_CHECKING:
    import hdfs_native

__all__ = ["HdfsClient", "HdfsReader", "HdfsWriter"]

Answer = TypeVar("Answer")
_CHUNK = 4 * 1024 * 1024


class HdfsClient:
    """A file system's calls. Each may raise RetriableError, FileNotFoundError or FileExistsError.

    The client itself has a time limit only for DataNodes: a NameNode that hangs would block its caller forever.
    Therefore a call runs in a thread that is abandoned after the time limit, together with its client.
    """

    def __init__(self, address: HdfsAddress, seconds: float) -> None:
        self._address = address
        self._seconds = seconds
        self._native: hdfs_native.Client | None = None

    @property
    def url(self) -> str:
        """The NameNode's URL."""
        return self._address.url

    def status(self, place: str) -> hdfs_native.FileStatus | None:
        """Return the status of a file or folder, ``None`` if it does not exist."""
        try:
            return self._call(lambda native: native.get_file_info(place))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder; empty if it does not exist."""
        return [name for name, _ in self.entries(folder)]

    def entries(self, folder: str) -> list[tuple[str, bool]]:
        """Return the names in a folder, each with whether it is a folder; empty if it does not exist."""
        try:
            found = self._call(lambda native: list(native.list_status(folder)))
        except FileNotFoundError:
            return []
        return sorted((one.path.rpartition("/")[2], bool(one.isdir)) for one in found)

    def statuses(self, folder: str) -> list[hdfs_native.FileStatus]:
        """Return the status of each entry of a folder; empty if it does not exist."""
        try:
            return self._call(lambda native: list(native.list_status(folder)))
        except FileNotFoundError:
            return []

    def make_folders(self, place: str) -> None:
        """Create a folder and its missing parents."""
        self._call(lambda native: native.mkdirs(place, create_parent=True))

    def rename(self, source: str, target: str, *, overwrite: bool) -> None:
        """Rename a file: atomic in the NameNode, even if it replaces one."""
        self._call(lambda native: native.rename(source, target, overwrite=overwrite))

    def remove(self, place: str, *, recursive: bool = False) -> None:
        """Remove a file or folder, if it exists."""
        self._call(lambda native: native.delete(place, recursive))

    def create(self, place: str, *, overwrite: bool = False) -> HdfsWriter:
        """Create a file, with its missing parent folders. Raises FileExistsError."""
        options = _library().WriteOptions(overwrite=overwrite, create_parent=True)
        return HdfsWriter(self, self._call(lambda native: native.create(place, options)))

    def open(self, place: str) -> HdfsReader:
        """Open a file for reading. Raises FileNotFoundError."""
        return HdfsReader(self, self._call(lambda native: native.read(place)))

    def timed(self, work: Callable[[], Answer]) -> Answer:
        """Return the result of a call within the time limit. Raises what it raises, translated."""
        answers: SimpleQueue[tuple[Answer, None] | tuple[None, BaseException]] = SimpleQueue()
        threading.Thread(target=_answer, args=(work, answers), name="hdfs-call", daemon=True).start()
        try:
            answer, error = answers.get(timeout=self._seconds)
        except Empty:
            self._native = None
            raise translated(TimeoutError(), self._address.url, self._seconds) from None
        if isinstance(error, (FileNotFoundError, FileExistsError)):
            raise type(error)(str(error).partition("\n")[0]) from None
        if error is not None:
            raise translated(error, self._address.url, self._seconds) from error
        return answer  # type: ignore[return-value]

    def _call(self, work: Callable[[hdfs_native.Client], Answer]) -> Answer:
        native = self._native = self._native or self._connected()
        return self.timed(lambda: work(native))

    def _connected(self) -> hdfs_native.Client:
        authority, seconds = self._address.authority, self._seconds
        settings = {
            # The limit for DataNodes is below that of the call, so that another one is tried in time.
            "dfs.client.socket-timeout": str(int(seconds * 1000 / 2)),
            "dfs.client.failover.max.attempts": "4" if self._address.is_service else "1",
            # An observer may be behind: an epoch that it has not received yet would fence nobody.
            f"dfs.client.failover.proxy.provider.{authority}": "org.apache.hadoop.hdfs.server.namenode.ha."
            "ConfiguredFailoverProxyProvider",
        }
        native: hdfs_native.Client = _library().Client(self._address.url, settings, self._address.conf_dir)
        return native


class HdfsWriter:
    """A file open for writing; bytes are collected in chunks."""

    def __init__(self, client: HdfsClient, native: hdfs_native.FileWriter) -> None:
        self._client = client
        self._native = native
        self._gathered = bytearray()
        self._is_empty = True

    def write(self, data: memoryview) -> None:
        """Append bytes."""
        self._gathered += data
        if len(self._gathered) >= _CHUNK:
            self._send()

    def close(self) -> None:
        """Write the bytes to the DataNodes' disks, and complete the file."""
        self._send()
        if not self._is_empty:
            self._client.timed(self._native.hsync)
        self._client.timed(self._native.close)

    def _send(self) -> None:
        data, self._gathered = bytes(self._gathered), bytearray()
        if data:
            self._is_empty = False
            self._client.timed(lambda: self._native.write(data))


class HdfsReader(io.RawIOBase):
    """A file open for reading."""

    def __init__(self, client: HdfsClient, native: hdfs_native.FileReader) -> None:
        self._client = client
        self._native = native

    def readable(self) -> bool:
        """Return true."""
        return True

    def seekable(self) -> bool:
        """Return true."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return int(self._native.tell())

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Set the position → the new position."""
        self._native.seek(offset, whence)
        return int(self._native.tell())

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer → the number of bytes read."""
        view = memoryview(buffer).cast("B")
        data = self._client.timed(lambda: self._native.read(len(view)))
        view[: len(data)] = data
        return len(data)


def _answer(work: Callable[[], Any], answers: SimpleQueue[Any]) -> None:
    try:
        answers.put((work(), None))
    except BaseException as error:
        # Includes a panic of the library, which is not an Exception.
        answers.put((None, error))


def _library() -> Any:
    try:
        import hdfs_native
    except ImportError as error:
        text = "this worker lacks the package for HDFS; install it with pip install 'connect-core[hdfs]'"
        raise ConfigError("path", "hdfs://", text) from error
    return hdfs_native
