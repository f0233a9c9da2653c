"""TLS: which servers are trusted, and the client's own certificate, in every form of store."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import NameOID

from connect_core.errors import ConfigError
from connect_core.schema_registry.caching import CachedRegistry
from connect_core.schema_registry.errors import UnavailableRegistryError
from connect_core.schema_registry.settings import RegistrySettings

SSL = "schema.registry.ssl."
Key = ec.EllipticCurvePrivateKey


@dataclass(frozen=True)
class Identity:
    key: Key
    certificate: x509.Certificate

    def chain(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def pem(self, password: bytes | None = None) -> bytes:
        form: Any = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
        return self.key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, form)


def identity(name: str, issuer: Identity | None = None) -> Identity:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
    )
    if name == "server":
        names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        builder = builder.add_extension(names, critical=False)
    return Identity(key, builder.sign(issuer.key if issuer else key, hashes.SHA256()))


AUTHORITY = identity("authority")
SERVER, CLIENT, STRANGER = (identity(name, AUTHORITY) for name in ("server", "client", "stranger"))


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"schema": "\\"int\\""}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Whoever hung up did so on purpose."""


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("tls")
    (folder / "server.pem").write_bytes(SERVER.chain() + SERVER.pem())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    context.load_verify_locations(cadata=AUTHORITY.chain().decode())
    context.verify_mode = ssl.CERT_REQUIRED
    server = Server(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "ca.pem").write_bytes(AUTHORITY.chain())
    (tmp_path / "client.pem").write_bytes(CLIENT.chain() + CLIENT.pem())
    (tmp_path / "sealed.pem").write_bytes(CLIENT.chain() + CLIENT.pem(b"sesame"))
    encryption = serialization.BestAvailableEncryption(b"sesame")
    own = pkcs12.serialize_key_and_certificates(b"client", CLIENT.key, CLIENT.certificate, None, encryption)
    (tmp_path / "client.p12").write_bytes(own)
    trusted = pkcs12.serialize_key_and_certificates(b"ca", None, None, [AUTHORITY.certificate], encryption)
    (tmp_path / "ca.p12").write_bytes(trusted)
    return tmp_path


def ask(port: int, settings: Mapping[str, str], host: str = "127.0.0.1") -> str:
    given = {"schema.registry.url": f"https://{host}:{port}", "max.retries": "0"}
    registry = CachedRegistry(RegistrySettings.of({**given, **settings}, False).client)
    try:
        return registry.by_id(1).schema.text
    finally:
        registry.forget()


def stores(files: Path, trust: str = "ca.pem", keys: str = "client.pem") -> dict[str, str]:
    return {f"{SSL}truststore.location": str(files / trust), f"{SSL}keystore.location": str(files / keys)}


@pytest.mark.parametrize(
    ("trust", "keys", "more"),
    [
        ("ca.pem", "client.pem", {}),
        ("ca.pem", "sealed.pem", {f"{SSL}key.password": "sesame"}),
        ("ca.p12", "client.p12", {f"{SSL}truststore.password": "sesame", f"{SSL}keystore.password": "sesame"}),
    ],
)
def test_stores(port: int, files: Path, trust: str, keys: str, more: dict[str, str]) -> None:
    assert ask(port, {**stores(files, trust, keys), **more}) == '"int"'


def test_texts(port: int) -> None:
    settings = {
        f"{SSL}truststore.certificates": AUTHORITY.chain().decode(),
        f"{SSL}keystore.certificate.chain": CLIENT.chain().decode(),
        f"{SSL}keystore.key": CLIENT.pem().decode(),
    }
    assert ask(port, settings) == '"int"'


def test_servers_and_clients_must_be_known(port: int, files: Path) -> None:
    whole = stores(files)
    for missing in whole:
        with pytest.raises(UnavailableRegistryError):
            ask(port, {key: value for key, value in whole.items() if key != missing})


def test_host_names_are_checked_unless_told_otherwise(port: int, files: Path) -> None:
    with pytest.raises(UnavailableRegistryError, match="certificate verify failed"):
        ask(port, stores(files), "localhost")
    lax = {**stores(files), f"{SSL}endpoint.identification.algorithm": ""}
    assert ask(port, lax, "localhost") == '"int"'


@pytest.mark.parametrize(
    ("trust", "keys", "more"),
    [
        ("absent.pem", "client.pem", {}),
        ("client.p12", "client.pem", {f"{SSL}truststore.password": "hush"}),
        ("ca.pem", "absent.pem", {}),
        ("ca.pem", "ca.pem", {}),
        ("ca.pem", "sealed.pem", {}),
        ("ca.pem", "sealed.pem", {f"{SSL}key.password": "hush"}),
        ("ca.pem", "client.p12", {f"{SSL}keystore.password": "hush"}),
    ],
)
def test_stores_that_cannot_be_used(port: int, files: Path, trust: str, keys: str, more: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"schema\.registry\.ssl\.") as error:
        ask(port, {**stores(files, trust, keys), **more})
    assert "hush" not in str(error.value)
