"""Calls to Google Cloud Storage, each with a time limit and clear errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from connect_core.connectors.filesystem.storages.object_source import ListedObject, changed
from connect_core.errors import ConfigError, ConnectError, RetriableError

if TYPE_CHECKING:
    from google.cloud import storage

__all__ = ["GcsBucket", "GcsLogin"]

CHUNK = 8 * 1024 * 1024
_SECONDS = 60
_TYPE = "application/octet-stream"


class GcsLogin:
    """The login and the endpoint."""

    def __init__(self, endpoint: str | None, key_file: str | None, key_json: str | None) -> None:
        self.endpoint = endpoint
        self._key_file = key_file
        self._key_json = key_json

    def client(self) -> storage.Client:
        """Return a client. Raises ConfigError."""
        try:
            from google.auth.exceptions import GoogleAuthError
            from google.cloud import storage
        except ImportError as error:
            text = "this worker lacks the package for it; install it with pip install 'connect-core[gcs]'"
            raise ConfigError("path", "gs://", text) from error
        options = {"api_endpoint": self.endpoint} if self.endpoint else None
        try:
            client = storage.Client(project="-", credentials=self._credentials(), client_options=options)
            # The address that a response sends on to would be called unchecked.
            client._http.max_redirects = 0
            return client
        except (GoogleAuthError, OSError) as error:
            text = f"no credentials: {error}; set gcs.credentials.path, or give the worker's machine a service account"
            raise ConfigError("path", "gs://", text) from error

    def _credentials(self) -> Any:
        from google.auth.credentials import AnonymousCredentials
        from google.oauth2 import service_account

        key, value = "gcs.credentials.path", self._key_file
        try:
            if self._key_file:
                return service_account.Credentials.from_service_account_file(self._key_file)
            if self._key_json:
                key, value = "gcs.credentials.json", "[hidden]"
                return service_account.Credentials.from_service_account_info(json.loads(self._key_json))
        except (ValueError, KeyError, OSError) as error:
            text = f"it is not a service account's key ({type(error).__name__}); give the JSON that Google Cloud made"
            raise ConfigError(key, value, text) from None
        return AnonymousCredentials() if self.endpoint else None


class GcsBucket:
    """The objects of one bucket."""

    def __init__(self, login: GcsLogin, name: str) -> None:
        self.name = name
        self._bucket = login.client().bucket(name)

    def read(self, name: str) -> bytes | None:
        """Return an object's bytes, ``None`` if there is none."""
        with self._calling():
            data: bytes | None = self._found(lambda: self._bucket.blob(name).download_as_bytes(**self._limits()))
            return data

    def piece(self, name: str, start: int, length: int) -> bytes:
        """Return some bytes of an object. Raises FileNotFoundError."""
        with self._calling():
            wanted = {"start": start, "end": start + length - 1, **self._limits()}
            data: bytes | None = self._found(lambda: self._bucket.blob(name).download_as_bytes(**wanted))
            if data is None:
                raise FileNotFoundError(name)
            return data

    def piece_of(self, name: str, generation: str, start: int, length: int) -> bytes:
        """Return some bytes of one generation of an object. Raises FileNotFoundError, FileChangedError."""
        wanted = {"start": start, "end": start + length - 1, **self._limits()}
        with self._calling():
            blob = self._bucket.blob(name, generation=int(generation))
            data: bytes | None = self._found(lambda: blob.download_as_bytes(**wanted))
        if data is not None:
            return data
        # A generation that was replaced no longer exists, unless the bucket keeps versions.
        if self.status(name) is None:
            raise FileNotFoundError(name)
        raise changed(name)

    def listed(self, prefix: str) -> Iterator[ListedObject]:
        """Return the objects whose names have this prefix."""
        with self._calling():
            for blob in self._bucket.list_blobs(prefix=prefix, **self._limits()):
                yield ListedObject(str(blob.name), int(blob.size), blob.updated, str(blob.generation))

    def create(self, name: str, data: bytes) -> None:
        """Write an object unless it exists: the generation of a missing object is 0."""
        from google.api_core.exceptions import PreconditionFailed

        with self._calling(), suppress(PreconditionFailed):
            self.put(name, data, if_generation_match=0)

    def put(self, name: str, data: bytes, **conditions: int) -> None:
        """Write an object in one call."""
        blob = self._bucket.blob(name)
        with self._calling():
            blob.upload_from_string(data, content_type=_TYPE, **conditions, **self._limits())

    def upload(self, name: str, pieces: Iterator[bytes]) -> None:
        """Write an object in pieces; it exists once all are written. Raises FileExistsError."""
        from google.api_core.exceptions import PreconditionFailed

        blob = self._bucket.blob(name, chunk_size=CHUNK)
        with self._calling():
            # An upload left unfinished by an error is not an object; Google drops it after a week.
            file = blob.open("wb", content_type=_TYPE, ignore_flush=True, if_generation_match=0, **self._limits())
            try:
                for piece in pieces:
                    file.write(piece)
                file.close()
            except PreconditionFailed as error:
                raise FileExistsError(f"{name} already exists") from error

    def status(self, name: str) -> storage.Blob | None:
        """Return the properties of an object, ``None`` if it does not exist."""
        with self._calling():
            return self._bucket.get_blob(name, **self._limits())

    def copy(self, blob: storage.Blob, name: str, over: int) -> bool:
        """Copy exactly this generation of an object within the bucket → false if source or target has another one.

        over: the generation of the object to replace, 0 if there must be none.
        """
        from google.api_core.exceptions import NotFound, PreconditionFailed

        token, target = None, self._bucket.blob(name)
        conditions = {"if_source_generation_match": blob.generation, "if_generation_match": over}
        with self._calling():
            while True:
                try:
                    token, _, _ = target.rewrite(blob, token=token, **conditions, **self._limits())
                except (NotFound, PreconditionFailed):
                    return False
                if token is None:
                    return True

    def names(self, prefix: str) -> list[str]:
        """Return the names after a prefix, up to the next slash."""
        with self._calling():
            found = self._bucket.list_blobs(prefix=prefix, delimiter="/", **self._limits())
            objects = [blob.name.removeprefix(prefix) for blob in found]
            return [name for name in objects if name] + [
                folder.removeprefix(prefix).rstrip("/") for folder in found.prefixes
            ]

    def all_names(self, prefix: str) -> Iterator[str]:
        """Return the names of objects with this prefix."""
        with self._calling():
            for blob in self._bucket.list_blobs(prefix=prefix, **self._limits()):
                yield str(blob.name)

    def remove(self, name: str) -> None:
        """Remove an object, if it exists."""
        with self._calling():
            self._found(lambda: self._bucket.blob(name).delete(**self._limits()))

    def remove_all(self, prefix: str) -> None:
        """Remove the objects with this prefix."""
        with self._calling():
            names = [blob.name for blob in self._bucket.list_blobs(prefix=prefix, **self._limits())]
        for name in names:
            self.remove(name)

    def _found(self, call: Callable[[], Any]) -> Any:
        """Return the result of a call, ``None`` if the object does not exist."""
        from google.api_core.exceptions import NotFound

        try:
            return call()
        except NotFound as error:
            if "bucket" in str(error).lower() and "does not exist" in str(error):
                raise
            return None

    @contextmanager
    def _calling(self) -> Iterator[None]:
        from google.api_core.exceptions import GoogleAPIError, PreconditionFailed
        from google.auth.exceptions import GoogleAuthError
        from google.cloud.exceptions import GoogleCloudError
        from requests.exceptions import RequestException

        try:
            yield
        except (ConnectError, PreconditionFailed, FileExistsError, FileNotFoundError):
            raise
        except (GoogleAPIError, GoogleCloudError, GoogleAuthError, RequestException, OSError) as error:
            raise self._translated(error) from error

    def _translated(self, error: Exception) -> RetriableError:
        code = getattr(error, "code", None)
        remedies: Mapping[int, str] = {
            401: "give the worker credentials: gcs.credentials.path, or a service account of its machine",
            403: "give the service account the role Storage Object Admin on the bucket",
            404: "create the bucket, or correct its name in path",
            429: "the store limits the request rate; the call is retried",
        }
        remedy = remedies.get(code, "check that the store can be reached") if isinstance(code, int) else None
        reason = str(error).split("\n")[0][:400]
        return RetriableError(
            f"gs://{self.name} failed: {type(error).__name__}: {reason}; "
            f"{remedy or 'check that the store can be reached'}"
        )

    def _limits(self) -> dict[str, Any]:
        from google.cloud.storage.retry import DEFAULT_RETRY

        return {"timeout": _SECONDS, "retry": DEFAULT_RETRY.with_timeout(_SECONDS)}
