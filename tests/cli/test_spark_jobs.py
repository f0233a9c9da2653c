"""Spark's job numbers by tag, from a page as Spark Connect serves it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from connect_core.cli.spark_jobs import job_ids
from tests.integration.ports import free_port

PAGES = {
    "/api/v1/applications": [{"id": "local-1"}],
    "/api/v1/applications/local-1/jobs": [
        {"jobId": 5, "jobTags": ["SparkConnect_SessionTag_User__Session_a_Tag_connect-x-1-2"]},
        {"jobId": 3, "jobTags": ["spark-session-b", "SparkConnect_SessionTag_User__Session_a_Tag_connect-x-1-2"]},
        {"jobId": 1},
    ],
}


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(PAGES[self.path]).encode())

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_jobs_are_found_by_tag(address: str) -> None:
    assert job_ids(address)["connect-x-1-2"] == [3, 5]


def test_no_page_means_no_numbers() -> None:
    assert job_ids(f"http://127.0.0.1:{free_port()}") == {}
