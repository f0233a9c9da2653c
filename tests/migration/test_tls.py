"""A cluster behind TLS: its certificate is verified, and ours is shown where it asks for one."""

from __future__ import annotations

import ipaddress
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from connect_core.api.connector import WorkerLimits
from connect_core.errors import ConfigError, ConnectError, RetriableError
from connect_core.migration.cluster import Tls, open_api, open_bounded_api
from connect_core.migration.transport import Bounds

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 that vouches for itself, and its key."""
    folder, key = tmp_path_factory.mktemp("tls"), ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "there")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    (folder / "key.pem").write_bytes(key.private_bytes(encoding, form, serialization.NoEncryption()))
    return folder / "certificate.pem", folder / "key.pem"


@pytest.fixture(params=[False, True], ids=["one way", "both ways"])
def url(request: pytest.FixtureRequest, pair: tuple[Path, Path]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*pair)
    if request.param:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(pair[0])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def names(url: str, tls: Tls) -> list[str]:
    with open_api(url, tls=tls) as api:
        quick = type(api)(api.client, api.address, retry_seconds=0.0)
        return [one.name for one in quick.connectors()]


def test_a_certificate_nobody_vouches_for_is_refused_at_once(url: str) -> None:
    with open_api(url) as api, pytest.raises(ConnectError, match="not trusted"):
        api.connectors()


def test_trusted_by_a_file_or_not_verified(url: str, pair: tuple[Path, Path], request: pytest.FixtureRequest) -> None:
    ours = Tls(certificate=pair[0], key=pair[1])
    assert names(url, replace(ours, ca=pair[0])) == []
    assert names(url, replace(ours, is_verified=False)) == []
    if "both ways" in request.node.name:
        with pytest.raises(RetriableError):
            names(url, Tls(ca=pair[0]))
    else:
        assert names(url, Tls(ca=pair[0])) == []


def test_a_bounded_call_verifies_as_well(url: str, pair: tuple[Path, Path]) -> None:
    """It connects to an address, and checks the certificate by the name that was given."""

    def bounded(address: str, ca: str | None) -> list[str]:
        ours = Tls(certificate=pair[0], key=pair[1], ca_text=ca)
        with open_bounded_api(address, Bounds(WorkerLimits(), time.monotonic() + 10), tls=ours) as api:
            quick = type(api)(api.client, api.address, retry_seconds=0.0)
            return [one.name for one in quick.connectors()]

    text = pair[0].read_text()
    assert bounded(url, text) == []
    for address, ca in ((url, None), (url.replace("127.0.0.1", "localhost"), text)):
        with pytest.raises(ConnectError, match="not trusted"):
            bounded(address, ca)
    for broken in ("no certificate", "ümlaut"):
        with pytest.raises(ConfigError, match="Cannot use the certificates of ca: "):
            Tls(ca_text=broken).context()
