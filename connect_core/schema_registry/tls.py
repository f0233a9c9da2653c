"""The certificates a registry's server must have, and the one this client presents."""

from __future__ import annotations

import os
import secrets
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import httpx
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12

from connect_core.api.config import Password
from connect_core.errors import ConfigError
from connect_core.schema_registry.connection_keys import SSL

__all__ = ["Store", "TlsSettings", "tls_context"]

_FORMATS = {".pem": "PEM", ".crt": "PEM", ".cer": "PEM", ".p12": "PKCS12", ".pfx": "PKCS12"}


@dataclass(frozen=True, slots=True)
class Store:
    """A file of keys or certificates; ``form``: PEM or PKCS12."""

    path: str
    form: str
    password: Password | None = None


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """The ``schema.registry.ssl.…`` settings; texts are PEM."""

    trust: Store | None = None
    trusted: Password | None = None
    keys: Store | None = None
    key: Password | None = None
    chain: Password | None = None
    key_password: Password | None = None
    checks_host: bool = True

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> TlsSettings:
        """Return the TLS settings in parsed settings. Raise ConfigError for stores in Java's own format."""
        found = cls(
            _store(values, "truststore"),
            values[f"{SSL}truststore.certificates"],
            _store(values, "keystore"),
            values[f"{SSL}keystore.key"],
            values[f"{SSL}keystore.certificate.chain"],
            values[f"{SSL}key.password"],
            bool((values[f"{SSL}endpoint.identification.algorithm"] or "").strip()),
        )
        if (found.key is None) != (found.chain is None):
            raise ConfigError(f"{SSL}keystore.key", Password.HIDDEN, f"also set {SSL}keystore.certificate.chain")
        return found


def _store(values: Mapping[str, Any], name: str) -> Store | None:
    key = f"{SSL}{name}.location"
    path = values[key]
    if not path:
        return None
    form = (values[f"{SSL}{name}.type"] or _FORMATS.get(PurePath(path).suffix.lower(), "JKS")).upper()
    if form not in ("PEM", "PKCS12"):
        remedy = f"its format is {form}; convert it with keytool and openssl, and give PEM or PKCS12"
        raise ConfigError(key, path, remedy)
    return Store(path, form, values[f"{SSL}{name}.password"])


def tls_context(settings: TlsSettings) -> ssl.SSLContext:
    """Return the TLS context of connections. Raise ConfigError for an unusable file."""
    context = _trusting(settings)
    if not settings.checks_host:
        context.check_hostname = False
    if settings.keys is not None:
        _load_store(context, settings.keys, settings.key_password)
    elif settings.key is not None and settings.chain is not None:
        pem = f"{settings.chain.value}\n{settings.key.value}".encode()
        _load_pem(context, pem, settings.key_password, f"{SSL}keystore.key")
    return context


def _trusting(settings: TlsSettings) -> ssl.SSLContext:
    if settings.trust is None and settings.trusted is None:
        return httpx.create_ssl_context()
    key = f"{SSL}truststore.location" if settings.trust else f"{SSL}truststore.certificates"
    place = settings.trust.path if settings.trust else Password.HIDDEN
    try:
        return ssl.create_default_context(cadata=_trusted(settings))
    except (OSError, ValueError) as error:
        raise ConfigError(key, place, f"no certificates can be read from it ({_reason(error)}): correct it") from None


def _trusted(settings: TlsSettings) -> str:
    if settings.trusted is not None:
        return str(settings.trusted.value)
    assert settings.trust is not None
    content = Path(settings.trust.path).read_bytes()
    if settings.trust.form == "PEM":
        return content.decode()
    found = pkcs12.load_pkcs12(content, _bytes(settings.trust.password))
    certificates = [one.certificate for one in (found.cert, *found.additional_certs) if one is not None]
    return "".join(one.public_bytes(serialization.Encoding.PEM).decode() for one in certificates)


def _load_store(context: ssl.SSLContext, store: Store, password: Password | None) -> None:
    key = f"{SSL}keystore.location"
    try:
        content = Path(store.path).read_bytes()
        pem, own = _pem_of(content, store)
    except (OSError, ValueError) as error:
        remedy = f"it cannot be read ({_reason(error)}): correct it, or {SSL}keystore.password"
        raise ConfigError(key, store.path, remedy) from None
    _load_pem(context, pem, own or password or store.password, key)


def _pem_of(content: bytes, store: Store) -> tuple[bytes, Password | None]:
    """Return a store's key and certificates as PEM, and the key's password if it was generated here."""
    if store.form == "PEM":
        return content, None
    found = pkcs12.load_pkcs12(content, _bytes(store.password))
    if found.key is None or found.cert is None:
        raise ValueError("it has no private key")
    chosen = secrets.token_hex(16)
    parts = [
        found.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(chosen.encode()),
        )
    ]
    parts += [one.certificate.public_bytes(serialization.Encoding.PEM) for one in (found.cert, *found.additional_certs)]
    return b"".join(parts), Password(chosen)


def _load_pem(context: ssl.SSLContext, pem: bytes, password: Password | None, key: str) -> None:
    # OpenSSL reads keys from files only; this one is readable by its owner only and deleted at once.
    handle, path = tempfile.mkstemp()
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(pem)
        context.load_cert_chain(path, password=password.value if password else lambda: "")
    except (OSError, ValueError) as error:
        remedy = f"key and certificate cannot be used ({_reason(error)}): correct them, or {SSL}key.password"
        raise ConfigError(key, Password.HIDDEN, remedy) from None
    finally:
        Path(path).unlink(missing_ok=True)


def _bytes(password: Password | None) -> bytes | None:
    return password.value.encode() if password else None


def _reason(error: Exception) -> str:
    """Return the reason of an error, without any contents of the file."""
    if isinstance(error, ssl.SSLError):
        return error.reason or "no PEM"
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else "another format or password"
