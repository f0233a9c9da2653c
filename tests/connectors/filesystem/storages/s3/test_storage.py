"""S3 storage keeps the contract of storages, on two stores that have no code in common."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from moto.s3.models import s3_backends

from connect_core.api import WorkerLimits
from connect_core.connectors.filesystem.storages import Held, S3Storage
from connect_core.connectors.filesystem.storages.s3 import staging
from connect_core.connectors.filesystem.storages.s3.uploads import part_size
from connect_core.errors import ConfigError, ConnectError, DataError, RetriableError
from tests.connectors.filesystem.storages.contracts import ExportContract, StoreContract
from tests.connectors.filesystem.storages.s3.servers import S3Server
from tests.connectors.filesystem.storages.stores import FileStore, s3_store

pytestmark = pytest.mark.slow

LARGE = b"0123456789abcdef" * 700_000
"""Held back as an upload of three parts."""
HOSTILE = ["a%2Fb", "k=v", "é ü \u4e2d", "a+b c", "x" * 200, "q?&#;:@$,'\"", "..x", "~"]


class TestMoto(StoreContract):
    @pytest.fixture
    def store(self, moto: S3Server) -> FileStore:
        return s3_store(moto)


@pytest.mark.servers
class TestSeaweed(StoreContract):
    @pytest.fixture
    def store(self, seaweed: S3Server) -> FileStore:
        return s3_store(seaweed)


@pytest.mark.servers
class TestSeaweedExports(ExportContract):
    @pytest.fixture
    def store(self, seaweed: S3Server) -> FileStore:
        return s3_store(seaweed)


def hold(storage: S3Storage, data: bytes, name: str = "1-a/0", final: str = "t/p/f", interval: str = "1-1") -> Held:
    output = storage.staging(folder_of(storage, interval)).create(name, final)
    output.write(data)
    held: Held = json.loads(json.dumps(output.finish(final)))
    return held


def folder_of(storage: S3Storage, interval: str = "1-1") -> Path:
    return storage.root / "_connect" / "+tmp" / "mine" / interval


def intervals_of(server: S3Server) -> set[str]:
    """Return the intervals that have something staged."""
    return {key.split("/")[4] for key in server.objects() if "/+tmp/" in key}


def test_large_file_is_written_once(server: S3Server) -> None:
    storage = server.storage()
    held = hold(storage, LARGE)
    assert server.uploads() == ["lake/t/p/f"], "it is held back under its final name"
    assert server.listed() == []
    storage.staging(folder_of(storage)).publish(held, "t/p/f")
    assert server.content("lake/t/p/f") == LARGE
    assert server.uploads() == []


def test_small_file_is_gone_from_staging_when_published(server: S3Server) -> None:
    storage = server.storage()
    storage.staging(folder_of(storage)).publish(hold(storage, b"data"), "t/p/f")
    assert server.objects() == ["lake/_connect/+once", "lake/t/p/f"] or server.objects() == ["lake/t/p/f"]


@pytest.mark.parametrize("data", [b"data", LARGE], ids=["small", "large"])
def test_swept_interval_leaves_nothing(server: S3Server, data: bytes) -> None:
    storage = server.storage()
    for number in range(2):
        hold(storage, data, f"1-{number}/0")
    storage.control.remove_tree(folder_of(storage))
    assert (server.objects(), server.uploads()) == ([], [])


def test_upload_whose_id_was_never_recorded_is_swept(server: S3Server) -> None:
    storage = server.storage()
    hold(storage, LARGE, "1-a/0")
    record = folder_of(storage).as_posix() + "/1-a/0.upload"
    server.client.put_object(Bucket=server.bucket, Key=record, Body=b'{"key": "lake/t/p/f", "upload": null}')
    storage.control.remove_tree(folder_of(storage))
    assert (server.objects(), server.uploads()) == ([], [])


def test_sweeping_an_interval_spares_a_later_one_of_the_same_range(server: S3Server) -> None:
    storage = server.storage()
    hold(storage, LARGE, interval="1-1")
    held = hold(storage, LARGE[::-1], interval="1-2")
    storage.control.remove_tree(folder_of(storage, "1-1"))
    storage.staging(folder_of(storage, "1-2")).publish(held, "t/p/f")
    assert server.content("lake/t/p/f") == LARGE[::-1]


def test_sweeping_waits_for_an_upload_that_is_being_begun(server: S3Server) -> None:
    """The later interval's process may have begun it and be about to record its id."""
    storage = server.storage()
    hold(storage, LARGE, interval="1-1")
    held = hold(storage, LARGE[::-1], interval="1-2")
    record = folder_of(storage, "1-2").as_posix() + "/1-a/0.upload"
    known = server.content(record)
    server.client.put_object(Bucket=server.bucket, Key=record, Body=b'{"key": "lake/t/p/f", "upload": null}')
    storage.control.remove_tree(folder_of(storage, "1-1"))
    assert intervals_of(server) == {"1-1", "1-2"}
    server.client.put_object(Bucket=server.bucket, Key=record, Body=known)
    storage.control.remove_tree(folder_of(storage, "1-1"))
    assert intervals_of(server) == {"1-2"}
    storage.staging(folder_of(storage, "1-2")).publish(held, "t/p/f")
    assert server.content("lake/t/p/f") == LARGE[::-1]


def test_held_upload_that_must_be_read_is_staged_by_the_next_attempt(server: S3Server) -> None:
    storage = server.storage()
    held = hold(storage, LARGE, "1-a/0")
    with pytest.raises(RetriableError, match="the interval is run again"):
        storage.staging(folder_of(storage)).open(held)
    again = hold(storage, LARGE, "2-b/0")
    with storage.staging(folder_of(storage)).open(again) as file:
        assert file.read() == LARGE
    storage.staging(folder_of(storage)).publish(again, "t/p/f")
    storage.control.remove_tree(folder_of(storage))
    assert (server.objects(), server.uploads()) == (["lake/t/p/f"], [])
    assert server.content("lake/t/p/f") == LARGE


def test_file_copied_in_parts_is_whole(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "COPIED_AT_ONCE", 1000)
    storage = server.storage()
    held = hold(storage, LARGE, final="")
    for _ in range(2):
        storage.staging(folder_of(storage)).publish(held, "t/p/f")
    storage.control.remove_tree(folder_of(storage))
    assert server.content("lake/t/p/f") == LARGE
    assert (server.objects(), server.uploads()) == (["lake/t/p/f"], [])


@pytest.mark.servers
@pytest.mark.parametrize("data", [b"data", LARGE], ids=["small", "large"])
def test_other_content_under_the_final_name_is_no_success(seaweed: S3Server, data: bytes) -> None:
    """Not on moto: asked to complete an upload that was aborted, it answers 500 where there is an object."""
    server, storage = seaweed, seaweed.storage()
    held = hold(storage, data)
    storage.control.remove_tree(folder_of(storage))
    server.client.put_object(Bucket=server.bucket, Key="lake/t/p/f", Body=data)
    with pytest.raises(DataError, match="the interval's manifest names it"):
        storage.staging(folder_of(storage)).publish(held, "t/p/f")


@pytest.mark.servers
def test_staged_object_that_was_changed_is_not_published(seaweed: S3Server) -> None:
    """Not on moto: it ignores the condition of a copy."""
    server, storage = seaweed, seaweed.storage()
    held = hold(storage, b"data")
    key = next(filter(lambda key: "+tmp" in key, server.objects()))
    server.client.put_object(Bucket=server.bucket, Key=key, Body=b"else")
    with pytest.raises(DataError, match="the interval's manifest names it"):
        storage.staging(folder_of(storage)).publish(held, "t/p/f")
    assert server.listed() == []


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_come_back(server: S3Server, text: str) -> None:
    storage = server.storage()
    final, place = f"t/k={text}/f", storage.root / "_connect" / text / f"{text}.json"
    storage.staging(folder_of(storage)).publish(hold(storage, b"data", f"{text}/0", final), final)
    storage.control.create(place, {"text": text})
    assert server.listed() == [final]
    assert server.content(f"lake/{final}") == b"data"
    assert storage.control.read(place) == {"text": text}
    assert storage.control.names(place.parent) == [f"{text}.json"]
    assert text in storage.control.names(place.parent.parent)


def test_key_that_is_too_long_is_refused_before_it_is_written(moto: S3Server) -> None:
    storage = moto.storage("p" * 500)
    with pytest.raises(ConnectError, match=r"1,024; shorten the prefix"):
        storage.staging(folder_of(storage)).create("1-a/0", "é" * 300)


def test_more_than_a_page_of_names_is_listed(moto: S3Server) -> None:
    storage = moto.storage()
    folder = storage.root / "_connect" / "many"
    for number in range(1005):
        # As if by requests, which would take half a minute.
        s3_backends["123456789012"]["aws"].put_object(moto.bucket, f"{folder.as_posix()}/{number}/x", b"")
    assert len(storage.control.names(folder)) == 1005
    storage.control.remove_tree(folder)
    assert storage.control.names(folder) == []


def test_parts_grow_with_the_file() -> None:
    assert part_size(5, 49_999) == 5
    assert -(-(10**12) // part_size(5 * 1024 * 1024, 10**12)) <= 10_000


def test_objects_are_asked_for_as_configured(moto: S3Server) -> None:
    config = {"s3.ssea.name": "AES256", "s3.storage.class": "STANDARD_IA", "s3.acl.canned": "bucket-owner-full-control"}
    storage = moto.storage(**config)
    for name, data in {"small": b"data", "large": LARGE}.items():
        storage.staging(folder_of(storage)).publish(hold(storage, data, name, name), name)
        head = moto.client.head_object(Bucket=moto.bucket, Key=f"lake/{name}")
        assert (head["ServerSideEncryption"], head["StorageClass"]) == ("AES256", "STANDARD_IA")


def test_place_tells_stores_apart(moto: S3Server) -> None:
    config = moto.config()
    here = S3Storage.locate("s3://bucket/a/", config, WorkerLimits())
    assert here == S3Storage.locate("s3://bucket/a", config, WorkerLimits())
    assert here != S3Storage.locate("s3://bucket/a", {**config, "store.url": "http://elsewhere"}, WorkerLimits())


@pytest.mark.parametrize("url", ["s3://", "s3://x/a", "s3://bucket/a//b", "s3://bucket/../b", "s3://bucket/a\nb"])
def test_url_of_no_prefix_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"choose another|write s3://bucket/prefix"):
        S3Storage.open(url, {}, WorkerLimits())
