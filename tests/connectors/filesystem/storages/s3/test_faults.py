"""A request that fails once is repeated and means what it says; one that fails for good is one clear error."""

from __future__ import annotations

import logging
import time
from contextlib import suppress

import pytest

from connect_core.api import WorkerLimits
from connect_core.connectors.filesystem.sink.connector import FileSystemSinkConnector
from connect_core.connectors.filesystem.storages import S3Storage
from connect_core.connectors.filesystem.storages.s3 import staging, uploads
from connect_core.errors import ConfigError, ConnectError, RetriableError
from tests.connectors.filesystem.storages.s3.faults import FaultyStore
from tests.connectors.filesystem.storages.s3.servers import SECRET, S3Server
from tests.connectors.filesystem.storages.s3.test_storage import folder_of, hold

ALL = ["put", "copy", "get", "list", "delete", "begin", "part", "complete", "abort"]
FAULTS = ["answer", "hang", "reset", "lost"]
EACH = [
    pytest.param(request, kind, marks=() if kind in ("lost", FAULTS[at % 3]) else pytest.mark.matrix)
    for at, request in enumerate(ALL)
    for kind in FAULTS
]
"""Every request and every fault; ``make test`` has the one that is hard, and another one, of each request."""
LARGE = b"0123456789abcdef" * 10_000
"""Large, as far as these tests are concerned."""
QUICK = {"s3.read.timeout.ms": "700", "s3.connect.timeout.ms": "2000"}

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _large_files_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "SMALL", 1000)


@pytest.fixture(autouse=True)
def _no_request_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "LATE_TIMES", 0)


@pytest.fixture
def storage(server: S3Server, faults: FaultyStore) -> S3Storage:
    return server.storage(**{"store.url": faults.url}, **QUICK)


@pytest.mark.parametrize(("request_", "kind"), EACH)
def test_one_failure_changes_nothing(moto: S3Server, moto_faults: FaultyStore, request_: str, kind: str) -> None:
    """Before or after the store has done it, by an error, silence, or a connection that breaks."""
    check_one_failure(moto, moto_faults, request_, kind)


@pytest.mark.servers
@pytest.mark.parametrize("request_", ALL)
def test_one_lost_answer_changes_nothing(seaweed: S3Server, proxy: FaultyStore, request_: str) -> None:
    """What is sent again was done already: the store's own answer to that must be understood."""
    proxy.upstream, proxy.fault, proxy.without = seaweed.url, None, frozenset()
    check_one_failure(seaweed, proxy, request_, "lost")


def check_one_failure(server: S3Server, faults: FaultyStore, request_: str, kind: str) -> None:
    """Whatever fails once, before or after the store has done it, the data is there and nothing else."""
    storage = server.storage(**{"store.url": faults.url}, **QUICK)
    fault = faults.fail(request_, kind, status=503, code="SlowDown")
    manifest = storage.root / "_connect" / "mine" / "1.json"
    assert storage.control.create(manifest, {"n": 1}) == {"n": 1}
    assert storage.control.create(manifest, {"n": 2}) == {"n": 1}
    contents = {"small": b"data", "large": LARGE, "read": LARGE[::-1]}
    helds = {name: hold(storage, data, f"1-a/{name}", name) for name, data in contents.items() if name != "read"}
    output = storage.staging(folder_of(storage)).create("1-a/read", "read")
    output.write(contents["read"])
    helds["read"] = output.finish()
    hold(storage, LARGE, "1-b/of a dead attempt", "large")
    assert server.listed() == []
    for name, held in helds.items():
        storage.staging(folder_of(storage)).publish(held, name)
    storage.control.remove_tree(folder_of(storage))
    assert storage.control.names(manifest.parent) == ["1.json"]
    assert fault.seen == 1, "the fault happened"
    assert {name: server.content(f"lake/{name}") for name in server.listed()} == contents
    assert set(server.objects()) == {
        "lake/_connect/+once",
        "lake/_connect/mine/1.json",
        *(f"lake/{n}" for n in contents),
    }
    assert server.uploads() == []


@pytest.mark.parametrize("count", [1, 2, 9])
def test_an_upload_that_is_begun_when_nobody_waits_is_aborted_by_a_later_sweep(
    moto: S3Server, moto_faults: FaultyStore, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """The store carries out a lost request after the interval was swept."""
    monkeypatch.setattr(uploads, "LATE_TIMES", 10)
    storage = moto.storage(**{"store.url": moto_faults.url, "s3.part.retries": "3", **QUICK})
    fault = moto_faults.fail("begin", "late", count=count)
    with suppress(RetriableError):
        hold(storage, LARGE, "1-a/large", "large")
    assert storage.control.remove_tree(folder_of(storage))
    (record,) = [key for key in moto.objects() if "+tmp" in key]
    end = time.monotonic() + 20
    assert fault.seen == min(count, 4)
    while fault.forwarded_late < fault.seen:
        assert time.monotonic() < end, "the store has not begun them"
        time.sleep(0.1)
    # On a slow machine the first sweep may have aborted some already.
    assert 0 < len(moto.uploads()) <= fault.seen, "the store has begun them late"
    while moto.uploads() or record in moto.objects():
        assert time.monotonic() < end, "they are left behind"
        assert storage.control.remove_tree(folder_of(storage))
        time.sleep(0.5)
    assert [key for key in moto.objects() if "+tmp" in key] == []


def test_answer_cut_off_is_read_again(server: S3Server, faults: FaultyStore, storage: S3Storage) -> None:
    held = hold(storage, b"data" * 100_000, final="")
    fault = faults.fail("get", "cut")
    with storage.staging(folder_of(storage)).open(held) as file:
        assert file.read() == b"data" * 100_000
    assert fault.seen == 1


@pytest.mark.parametrize("kind", ["answer", "hang", "reset"])
def test_lasting_failure_may_be_tried_again_later(
    moto: S3Server, moto_faults: FaultyStore, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    storage = moto.storage(**{"store.url": moto_faults.url, "s3.part.retries": "1", **QUICK})
    fault = moto_faults.fail("put", kind, count=100, status=503, code="SlowDown")
    with pytest.raises(RetriableError, match=rf"s3://{moto.bucket}/lake/_connect/\+once") as raised:
        storage.control.create(storage.root / "_connect" / "x.json", {})
    assert fault.seen == 2
    assert SECRET not in f"{raised.value} {raised.value.__cause__} {caplog.text}"


CODES = {
    "NoSuchBucket": (404, ConfigError, "create it, or name another in path"),
    "AccessDenied": (403, ConfigError, "grant s3:GetObject"),
    "InvalidAccessKeyId": (403, ConfigError, "check aws.access.key.id"),
    "SignatureDoesNotMatch": (403, ConfigError, "the secret does not match the access key"),
    "RequestTimeTooSkewed": (403, ConnectError, "set the clock"),
    "AuthorizationHeaderMalformed": (400, ConfigError, "set s3.region"),
    "InvalidStorageClass": (400, ConfigError, "correct s3.storage.class"),
    "SlowDown": (503, RetriableError, "now"),
    "InternalError": (500, RetriableError, "now"),
    "RequestTimeout": (400, RetriableError, "now"),
    "ExpiredToken": (400, RetriableError, "now"),
    "SomethingNew": (400, ConnectError, "SomethingNew"),
}


@pytest.mark.parametrize("code", CODES)
def test_each_refusal_has_one_meaning(moto: S3Server, moto_faults: FaultyStore, code: str) -> None:
    status, kind, text = CODES[code]
    storage = moto.storage(**{"store.url": moto_faults.url, "s3.part.retries": "0"})
    moto_faults.fail("put", "answer", count=100, status=status, code=code)
    with pytest.raises(ConnectError, match=text) as raised:
        storage.bucket.put("lake/x", b"", {})
    assert type(raised.value) is kind
    assert f"s3://{moto.bucket}/lake/x" in str(raised.value)


def test_store_that_ignores_conditions_is_refused(moto: S3Server, moto_faults: FaultyStore) -> None:
    moto_faults.without = frozenset({"if-none-match"})
    storage = moto.storage(**{"store.url": moto_faults.url})
    with pytest.raises(ConfigError, match="ignores If-None-Match"):
        storage.control.create(storage.root / "_connect" / "mine" / "1.json", {})
    assert "ignores If-None-Match" in validated(moto.config(**{"store.url": moto_faults.url}))
    assert moto.objects() == ["lake/_connect/+once"]


def validated(config: dict[str, str]) -> str:
    errors = FileSystemSinkConnector().validate_live(config, WorkerLimits())
    return " ".join(errors.get("path", ()))


def test_validation_finds_what_is_wrong(server: S3Server) -> None:
    assert validated(server.config()) == ""
    assert "create it" in validated({**server.config(), "path": "s3://no-such-bucket/x"})
    assert "does not respond" in validated({**server.config(), "store.url": "http://127.0.0.1:9"})
    metadata = {**server.config(), "store.url": "http://169.254.169.254"}
    assert "link-local" in validated(metadata)


@pytest.mark.servers
def test_validation_finds_a_wrong_key(seaweed: S3Server) -> None:
    text = validated({**seaweed.config(), "aws.secret.access.key": "a wrong secret"})
    assert "the secret does not match the access key" in text
    assert "a wrong secret" not in text
    assert "does not know this access key" in validated({**seaweed.config(), "aws.access.key.id": "nobody"})


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"aws.access.key.id": "a"}, "belong together"),
        ({"aws.session.token": "a"}, "belongs to an access key"),
        ({"s3.sse.kms.key.id": "a"}, "needs s3.ssea.name=aws:kms"),
        ({"store.url": "minio:9000"}, "write one such as http://minio:9000"),
        ({"s3.proxy.url": "http://user:hidden@proxy:1"}, "have settings of their own"),
    ],
)
def test_settings_that_contradict_are_refused(settings: dict[str, str], text: str) -> None:
    errors = validated({"path": "s3://bucket/x", **settings})
    assert text in errors
    assert "hidden" not in errors
