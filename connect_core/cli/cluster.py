"""Options of commands that talk to a Kafka Connect cluster, and the client built from them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from connect_core.errors import ConfigError
from connect_core.migration.cluster import Tls, open_api
from connect_core.migration.connect_api import ConnectApi

__all__ = ["Access", "is_url", "opened_cluster"]

_HOST_AND_PORT = re.compile(r"[\w.-]+:\d{1,5}(/\S*)?")
_PASSWORD_VARIABLE = "CONNECT_FROM_PASSWORD"

_Login = Annotated[str | None, typer.Option("--login", metavar="USER", help="User for the cluster's REST API.")]
_PasswordFile = Annotated[
    Path | None,
    typer.Option(
        "--password-file", help=f"A file with the password; by default, the environment variable {_PASSWORD_VARIABLE}."
    ),
]
_CaFile = Annotated[Path | None, typer.Option("--ca", help="CA certificates (PEM) for verifying the cluster.")]
_Certificate = Annotated[
    Path | None, typer.Option("--certificate", help="Client certificate (PEM) to present to the cluster.")
]
_KeyFile = Annotated[Path | None, typer.Option("--key", help="The private key (PEM) of --certificate.")]
_Insecure = Annotated[bool, typer.Option("--insecure", help="Do not verify the cluster's certificate.")]


@dataclass(frozen=True, slots=True)
class Access:
    """Options for access to a cluster's REST API."""

    login: _Login = None
    password_file: _PasswordFile = None
    ca: _CaFile = None
    certificate: _Certificate = None
    key: _KeyFile = None
    insecure: _Insecure = False

    def tls(self) -> Tls:
        """Return the TLS settings for an ``https`` address."""
        return Tls(self.ca, self.certificate, self.key, is_verified=not self.insecure)


def is_url(text: str) -> bool:
    """Return whether ``--from`` names a cluster, not a file. Raise ConfigError for a host and port without a scheme."""
    if _HOST_AND_PORT.fullmatch(text) and not Path(text).exists():
        raise ConfigError("--from", text, f"write http://{text} or https://{text} for a cluster; there is no such file")
    return text.lower().startswith(("http://", "https://"))


@contextmanager
def opened_cluster(url: str, access: Access) -> Iterator[ConnectApi]:
    """Open a cluster for a block. Raise ConfigError for options that do not fit."""
    with open_api(url, _login(access), access.tls()) as api:
        yield api


def _login(access: Access) -> tuple[str, str] | None:
    if access.login is None:
        if access.password_file is not None:
            raise ConfigError("--password-file", access.password_file, "name its user with --login")
        return None
    if access.password_file is None:
        return access.login, os.environ.get(_PASSWORD_VARIABLE, "")
    try:
        return access.login, access.password_file.read_text("utf-8").strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError("--password-file", access.password_file, f"cannot be read: {reason}") from error
