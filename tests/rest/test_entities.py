"""Bodies as Jackson reads them; expectations recorded from Kafka Connect 4.3.1."""

from __future__ import annotations

from typing import Any

import pytest

from connect_core.errors import DataError
from connect_core.rest.entities import config_body, new_connector_body, offsets_body
from tests.herder.harness import SOURCE, Harness
from tests.rest.conftest import JSON, Client


@pytest.mark.parametrize(
    ("body", "config"),
    [
        (b"{}", {}),
        (b'{"a":1}', {"a": "1"}),
        (b'{"a":1.50}', {"a": "1.50"}),
        (b'{"a":1e3}', {"a": "1e3"}),
        (b'{"a":-0}', {"a": "-0"}),
        (b'{"a":12345678901234567890}', {"a": "12345678901234567890"}),
        (b'{"a":true,"b":false}', {"a": "true", "b": "false"}),
        (b'{"a":null}', {"a": None}),
        (b'{"a":"b","a":"c"}', {"a": "c"}),
        (b'\xef\xbb\xbf{"a":"b"}', {"a": "b"}),
        (b'{"a":"\\ud800"}', {"a": "?"}),
        (b'{"":"x"}', {"": "x"}),
    ],
)
def test_scalars_of_a_configuration_become_the_text_they_were(body: bytes, config: dict[str, Any]) -> None:
    assert config_body(body) == config


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b" ", b"null", b"[]", b"1", b'"x"', b"{", b"{}x", b'{"a":[]}', b'{"a":{}}', b'{"a":NaN}', b"{'a':1}"),
        *(b'{"a":1,}', b'{"a":"x\ty"}', b'{"a":0123}', b"/*c*/{}", b'{"a":"\xff"}', b"[" * 100_000),
    ],
)
def test_anything_but_an_object_of_scalars_is_refused(body: bytes) -> None:
    with pytest.raises(DataError):
        config_body(body)


@pytest.mark.parametrize("body", [b"{}", b'{"name":"a"}', b'{"config":{},"foo":1}', b'{"config":{},"name":[]}'])
def test_request_to_create_needs_a_config_and_nothing_unknown(body: bytes) -> None:
    with pytest.raises(DataError):
        new_connector_body(body)


def test_initial_state_is_one_of_three_in_any_case() -> None:
    assert new_connector_body(b'{"config":{},"initial_state":"stopped"}').initial_state == "stopped"
    with pytest.raises(DataError, match="none of RUNNING"):
        new_connector_body(b'{"config":{},"initial_state":"BOGUS"}')


def test_offsets_keep_their_json() -> None:
    entry = {"partition": {"filename": "a"}, "offset": {"position": 5, "rate": 0.5}}
    assert offsets_body(b'{"offsets":[{"partition":{"filename":"a"},"offset":{"position":5,"rate":0.5}}]}') == [entry]
    assert offsets_body(b'{"offsets":null}') == []


@pytest.mark.parametrize("entry", ["null", "1", '{"partition":"x"}', '{"offset":[]}', '{"z":1}'])
def test_malformed_offsets_are_refused(entry: str) -> None:
    with pytest.raises(DataError):
        offsets_body(f'{{"offsets":[{entry}]}}'.encode())


def test_body_beyond_the_limit_is_refused(call: Client) -> None:
    answer = call("POST", "/connectors", b'{"a":"' + b"x" * (17 * 1024 * 1024) + b'"}', JSON)
    assert answer.status == 413


def test_refused_body_changes_nothing(call: Client, harness: Harness) -> None:
    harness.create("a")
    assert call("PUT", "/connectors/a/config", b"{]", JSON).status == 500
    assert call("GET", "/connectors/a/config").json == {**SOURCE, "name": "a"}
