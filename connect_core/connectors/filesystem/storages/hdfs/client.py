"""Calls of HDFS, each with a time limit and clear errors; by hdfs-native, which needs no Java."""

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
    """A file system's calls. Every one may raise RetriableError; FileNotFoundError and FileExistsError are let pass.

    The client has a time limit of its own for DataNodes only: a NameNode that hangs would hold its caller for ever.
    So a call is made on a thread that is given up when time is over, with the client it used.
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
        """Return what is known of a file or folder, ``None`` if it is not there."""
        try:
            return self._call(lambda native: native.get_file_info(place))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder; none if it is not there."""
        return [name for name, _ in self.entries(folder)]

    def entries(self, folder: str) -> list[tuple[str, bool]]:
        """Return the names in a folder, each with whether it is a folder; none if it is not there."""
        try:
            found = self._call(lambda native: list(native.list_status(folder)))
        except FileNotFoundError:
            return []
        return sorted((one.path.rpartition("/")[2], bool(one.isdir)) for one in found)

    def statuses(self, folder: str) -> list[hdfs_native.FileStatus]:
        """Return what is known of all that is in a folder; nothing if it is not there."""
        try:
            return self._call(lambda native: list(native.list_status(folder)))
        except FileNotFoundError:
            return []

    def make_folders(self, place: str) -> None:
        """Make a folder and those above it, unless they are there."""
        self._call(lambda native: native.mkdirs(place, create_parent=True))

    def rename(self, source: str, target: str, *, overwrite: bool) -> None:
        """Rename a file: one step of the NameNode, also where it replaces one."""
        self._call(lambda native: native.rename(source, target, overwrite=overwrite))

    def remove(self, place: str, *, recursive: bool = False) -> None:
        """Remove what is there, if anything is."""
        self._call(lambda native: native.delete(place, recursive))

    def create(self, place: str, *, overwrite: bool = False) -> HdfsWriter:
        """Begin a file, with the folders above it. Raises FileExistsError."""
        options = _library().WriteOptions(overwrite=overwrite, create_parent=True)
        return HdfsWriter(self, self._call(lambda native: native.create(place, options)))

    def open(self, place: str) -> HdfsReader:
        """Open a file for reading. Raises FileNotFoundError."""
        return HdfsReader(self, self._call(lambda native: native.read(place)))

    def timed(self, work: Callable[[], Answer]) -> Answer:
        """Return what a call answers in time. Raises what it raises, translated."""
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
            # The DataNodes' limit, below that of the call, so that another of them is tried in time.
            "dfs.client.socket-timeout": str(int(seconds * 1000 / 2)),
            "dfs.client.failover.max.attempts": "4" if self._address.is_service else "1",
            # An observer may be behind: an epoch that it has not heard of yet would fence nobody.
            f"dfs.client.failover.proxy.provider.{authority}": "org.apache.hadoop.hdfs.server.namenode.ha."
            "ConfiguredFailoverProxyProvider",
        }
        native: hdfs_native.Client = _library().Client(self._address.url, settings, self._address.conf_dir)
        return native


class HdfsWriter:
    """A file open for writing; bytes are gathered to chunks."""

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
        """Have the bytes on the DataNodes' disks, and the file complete."""
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
        """Move → the new position."""
        self._native.seek(offset, whence)
        return int(self._native.tell())

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer → how many bytes there were."""
        view = memoryview(buffer).cast("B")
        data = self._client.timed(lambda: self._native.read(len(view)))
        view[: len(data)] = data
        return len(data)


def _answer(work: Callable[[], Any], answers: SimpleQueue[Any]) -> None:
    try:
        answers.put((work(), None))
    except BaseException as error:
        # Also a panic of the library, which is no Exception.
        answers.put((None, error))


def _library() -> Any:
    try:
        import hdfs_native
    except ImportError as error:
        text = "this worker lacks the wheel for HDFS; install it by pip install 'connect-core[hdfs]'"
        raise ConfigError("path", "hdfs://", text) from error
    return hdfs_native
