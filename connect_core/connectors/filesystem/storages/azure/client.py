"""Calls to Azure Blob Storage, each with a time limit and clear errors."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from connect_core.connectors.filesystem.storages.object_source import ListedObject, changed
from connect_core.errors import ConfigError, ConnectError, RetriableError

if TYPE_CHECKING:
    from azure.storage.blob import BlobProperties, ContainerClient

__all__ = ["BLOCK", "AzureContainer", "AzureLogin"]

BLOCK = 8 * 1024 * 1024
_SECONDS = 60
_REMEDIES: Mapping[str, str] = {
    "ContainerNotFound": "create the container, or correct its name in path",
    "AuthenticationFailed": "correct azure.account.key or azure.sas.token, and the machine's clock",
    "AuthorizationFailure": "correct azure.account.key or azure.sas.token, or allow the worker in the firewall",
    "AuthorizationPermissionMismatch": "give the worker's identity the role Storage Blob Data Contributor",
    "AccountIsDisabled": "enable the storage account",
}


@dataclass(frozen=True, slots=True, repr=False)
class AzureLogin:
    """The login, and the account's URL for blobs."""

    url: str
    account_key: str | None
    sas_token: str | None

    def container(self, name: str) -> ContainerClient:
        """Return a client. Raises ConfigError."""
        try:
            from azure.storage.blob import ContainerClient
        except ImportError as error:
            raise _missing("azure-storage-blob") from error
        # The address that a response sends on to would be called unchecked.
        limits = {"connection_timeout": _SECONDS // 3, "read_timeout": _SECONDS, "retry_total": 3}
        limits |= {"permit_redirects": False}
        try:
            return ContainerClient(self.url, name, self._credential(), **limits)
        except ValueError as error:
            raise ConfigError("azure.account.key", "[hidden]", f"{error}; give the key in base64") from error

    def _credential(self) -> Any:
        if self.account_key:
            from azure.core.credentials import AzureNamedKeyCredential

            return AzureNamedKeyCredential(_account(self.url), self.account_key)
        if self.sas_token:
            return self.sas_token.lstrip("?")
        try:
            from azure.identity import DefaultAzureCredential
        except ImportError as error:
            raise _missing("azure-identity") from error
        return DefaultAzureCredential()


class AzureContainer:
    """The blobs of one container."""

    def __init__(self, login: AzureLogin, name: str) -> None:
        self.name = name
        self._container = login.container(name)

    def read(self, name: str) -> bytes | None:
        """Return a blob's bytes, ``None`` if there is none."""
        with self._calling(), _absent():
            data: bytes = self._container.download_blob(name).readall()
            return data
        return None

    def pieces(self, name: str) -> Iterator[bytes]:
        """Return the bytes of a blob in pieces, none if it does not exist."""
        with self._calling(), _absent():
            yield from self._container.download_blob(name).chunks()

    def piece(self, name: str, start: int, length: int) -> bytes:
        """Return some bytes of a blob. Raises FileNotFoundError."""
        with self._calling(), _absent():
            data: bytes = self._container.download_blob(name, start, length).readall()
            return data
        raise FileNotFoundError(name)

    def piece_of(self, name: str, etag: str, start: int, length: int) -> bytes:
        """Return some bytes of a blob with this etag. Raises FileNotFoundError, FileChangedError."""
        from azure.core import MatchConditions
        from azure.core.exceptions import ResourceModifiedError

        with self._calling(), _absent():
            condition = {"etag": etag, "match_condition": MatchConditions.IfNotModified}
            try:
                data: bytes = self._container.download_blob(name, start, length, **condition).readall()
            except ResourceModifiedError as error:
                # Some stores respond this way if there is no blob at all.
                if self.status(name) is None:
                    raise FileNotFoundError(name) from error
                raise changed(name) from error
            return data
        raise FileNotFoundError(name)

    def listed(self, prefix: str) -> Iterator[ListedObject]:
        """Return the blobs whose names have this prefix, without the folders of a hierarchical namespace."""
        with self._calling():
            for one in self._container.list_blobs(name_starts_with=prefix, include=["metadata"]):
                if (one.metadata or {}).get("hdi_isfolder") != "true":
                    yield ListedObject(str(one.name), int(one.size), one.last_modified, str(one.etag))

    def create(self, name: str, data: bytes) -> None:
        """Write a blob unless there is one."""
        with suppress(FileExistsError):
            self.put_new(name, data)

    def put_new(self, name: str, data: Any) -> None:
        """Write a blob. Raises FileExistsError."""
        from azure.core.exceptions import ResourceExistsError

        with self._calling():
            try:
                self._container.upload_blob(name, data, overwrite=False)
            except ResourceExistsError as error:
                raise FileExistsError(f"{name} already exists") from error

    def put(self, name: str, data: bytes) -> None:
        """Write a blob, replacing an existing one."""
        with self._calling():
            self._container.upload_blob(name, data, overwrite=True)

    def stage(self, name: str, pieces: Iterator[bytes]) -> list[str]:
        """Upload blocks under a name, invisible to readers → their ids, which are unique to this upload."""
        blob, mine, ids = self._container.get_blob_client(name), secrets.token_hex(8), []
        for number, piece in enumerate(pieces):
            # All ids of a blob must have one length.
            ids.append(base64.b64encode(f"{mine}-{number:07d}".encode()).decode())
            with self._calling():
                blob.stage_block(ids[-1], piece, length=len(piece))
        return ids

    def commit(self, name: str, ids: Sequence[str], md5: bytes, over: str | None = None) -> bool:
        """Make a blob from blocks atomically → false if the blocks no longer exist, or the condition ``over`` fails.

        over: the etag of the blob to replace, empty if there must be none; ``None``: replace any.
        """
        from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceModifiedError
        from azure.storage.blob import BlobBlock, ContentSettings

        settings = ContentSettings(content_type="application/octet-stream", content_md5=bytearray(md5))
        with self._calling():
            try:
                blocks = [BlobBlock(one) for one in ids]
                blob = self._container.get_blob_client(name)
                blob.commit_block_list(blocks, content_settings=settings, **_over(over))
            except (ResourceExistsError, ResourceModifiedError):
                return False
            except HttpResponseError as error:
                if _code(error) == "InvalidBlockList":
                    return False
                raise
        return True

    def status(self, name: str) -> BlobProperties | None:
        """Return the properties of a blob, ``None`` if it does not exist."""
        with self._calling(), _absent():
            return self._container.get_blob_client(name).get_blob_properties()
        return None

    def names(self, prefix: str) -> list[str]:
        """Return the names after a prefix, up to the next slash."""
        with self._calling():
            found = [one.name for one in self._container.walk_blobs(name_starts_with=prefix)]
        return [name.removeprefix(prefix).rstrip("/") for name in found if name != prefix]

    def all_names(self, prefix: str) -> Iterator[str]:
        """Return the names of blobs with this prefix, without the folders of a hierarchical namespace."""
        with self._calling():
            for one in self._container.list_blobs(name_starts_with=prefix, include=["metadata"]):
                if (one.metadata or {}).get("hdi_isfolder") != "true":
                    yield str(one.name)

    def remove(self, name: str) -> None:
        """Remove a blob, if it exists."""
        with self._calling(), _absent():
            self._container.delete_blob(name)

    def remove_all(self, prefix: str) -> None:
        """Remove the blobs with this prefix; in a hierarchical namespace, folders come after their content."""
        with self._calling():
            names = [one.name for one in self._container.list_blobs(name_starts_with=prefix)]
        for name in sorted(names, reverse=True):
            self.remove(name)

    @contextmanager
    def _calling(self) -> Iterator[None]:
        """Translate what Azure's client raises in the block into RetriableError."""
        from azure.core.exceptions import AzureError

        try:
            yield
        except ConnectError:
            raise
        except AzureError as error:
            code = _code(error)
            remedy = _REMEDIES.get(code, "check that the account can be reached and the worker may write to it")
            reason = str(error).split("\n")[0][:400]
            raise RetriableError(f"Azure container {self.name} failed: {code}: {reason}; {remedy}") from error


def _over(etag: str | None) -> dict[str, Any]:
    from azure.core import MatchConditions

    if etag is None:
        return {}
    if not etag:
        return {"match_condition": MatchConditions.IfMissing}
    return {"etag": etag, "match_condition": MatchConditions.IfNotModified}


@contextmanager
def _absent() -> Iterator[None]:
    """Ignore that a blob does not exist; a missing container is an error."""
    from azure.core.exceptions import ResourceNotFoundError

    try:
        yield
    except ResourceNotFoundError as error:
        if _code(error) == "ContainerNotFound":
            raise


def _code(error: Exception) -> str:
    code = getattr(error, "error_code", None)
    return str(getattr(code, "value", code) or type(error).__name__)


def _account(url: str) -> str:
    """Return the account in ``https://account.blob…`` or ``http://127.0.0.1:10000/account``."""
    host, _, path = url.split("://", 1)[1].partition("/")
    return path.strip("/") or host.partition(".")[0]


def _missing(wheel: str) -> ConfigError:
    text = f"this worker lacks the package {wheel}; install it with pip install 'connect-core[azure]'"
    return ConfigError("path", "abfss://", text)
