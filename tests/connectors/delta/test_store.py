"""Tables in an object store that fails for a while."""

from __future__ import annotations

import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from connect_core.api import WorkerLimits
from connect_core.connectors.delta.config import Settings
from connect_core.connectors.delta.places import places_of
from connect_core.connectors.delta.tables import Tables
from connect_core.errors import ConnectError, RetriableError
from tests.connectors.filesystem.storages.s3.faults import Fault, FaultyStore, faulty
from tests.connectors.filesystem.storages.s3.servers import ACCESS, SECRET, S3Server, moto_running

OPTIONS = {
    "aws_access_key_id": "a",
    "aws_secret_access_key": "b",
    "aws_region": "us-east-1",
    "aws_allow_http": "true",
    "max_retries": "1",
}


def find(store: FaultyStore, bucket: str = "bucket") -> None:
    """Look for a table that a connector would write."""
    options = {f"delta.storage.{key}": value for key, value in {**OPTIONS, "aws_endpoint": store.url}.items()}
    settings = Settings.of({"path": f"s3://{bucket}/lake", "topics": "t", **options})
    Tables(places_of(settings, WorkerLimits()), settings).find(("tables", "t"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["answer", "reset"])
@pytest.mark.parametrize("request_", ["get", "list"])
def test_store_that_fails_for_a_while_is_asked_again(request_: str, kind: str) -> None:
    with faulty("http://127.0.0.1:9") as store:
        store.fail(request_, kind, count=1000, status=503, code="SlowDown")
        with pytest.raises(RetriableError):
            find(store)


@pytest.mark.slow
def test_checkpoint_that_cannot_be_read_for_a_while_is_asked_for_again() -> None:
    """delta-rs raises another error where the store fails while it reads a table's log."""
    with moto_running() as url, faulty(url) as store:
        server = S3Server(url)
        options = {**OPTIONS, "aws_endpoint": url, "aws_access_key_id": ACCESS, "aws_secret_access_key": SECRET}
        place = f"s3://{server.bucket}/lake/t"
        table = DeltaTable.create(place, pa.schema([("a", pa.int64())]), storage_options=options)
        table.create_checkpoint()
        store.fault = Fault(lambda method, path, copies: "checkpoint.parquet" in path, "reset", count=1000)
        with pytest.raises(RetriableError, match="after 1 retries"):
            find(store, server.bucket)
        assert store.fault.seen
        store.fault = None
        find(store, server.bucket)


ANSWERS = {
    "redirected": (307, b""),
    "refused": (404, b"<Error><Code>NoSuchBucket</Code><Message>canary</Message></Error>"),
    "listed": (200, b'{"SecretAccessKey": "canary"}'),
}


@pytest.mark.parametrize("how", ANSWERS)
def test_what_a_store_answers_is_not_told(how: str) -> None:
    """It may be what a metadata service says: delta-rs follows redirects, and cannot be told not to."""
    status, body = ANSWERS[how]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_sent_on = status == 307 and "/latest/" not in self.path
            content = body if status != 307 else b"" if is_sent_on else ANSWERS["listed"][1]
            self.send_response(200 if status == 307 and not is_sent_on else status)
            if is_sent_on:
                self.send_header("Location", f"http://127.0.0.1:{server.server_port}/latest/meta-data")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(ConnectError) as raised:
            find(FaultyStore("", url=f"http://127.0.0.1:{server.server_port}"))
        server.shutdown()
    assert "canary" not in "".join(traceback.format_exception(raised.value))
    assert "Generic S3 error" in str(raised.value)
    assert "\x1b" not in str(raised.value)
