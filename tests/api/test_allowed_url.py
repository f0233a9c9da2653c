"""Addresses that clients read in several ways name no host at all."""

from __future__ import annotations

import pytest

from connect_core.api.allowed_url import ensure_allowed_url, host_of_url
from connect_core.api.connector import WorkerLimits
from connect_core.errors import ConfigError


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://minio:9000", "minio"),
        ("https://s3.eu-central-1.amazonaws.com", "s3.eu-central-1.amazonaws.com"),
        ("http://127.0.0.1:10000/account", "127.0.0.1"),
        ("http://[::1]:9000/a?b=c%20d", "::1"),
        ("thrift://meta_store:9083", "meta_store"),
    ],
)
def test_plain_addresses_have_a_host(url: str, host: str) -> None:
    assert host_of_url("store.url", url) == host


@pytest.mark.parametrize(
    "url",
    [
        r"http://169.254.169.254\@allowed.example",
        r"http://169.254.169.254\.allowed.example",
        r"http:\\169.254.169.254",
        "http:/169.254.169.254",
        " http://169.254.169.254",
        "ht\ttp://169.254.169.254",
        "http://169.254.169.254\n",
        "http://169.254.169%2e254",
        "http://169.254.169.254#@allowed.example",
        "http://allowed.example@169.254.169.254",
        "http://\u2460\u2465\u2468.254.169.254",
        "169.254.169.254",
        "",
    ],
)
def test_others_are_refused_and_not_shown(url: str) -> None:
    with pytest.raises(ConfigError, match="no plain address") as raised:
        host_of_url("store.url", url)
    assert "169.254" not in str(raised.value)


def test_plain_address_is_still_to_be_allowed() -> None:
    with pytest.raises(ConfigError, match="link-local"):
        ensure_allowed_url("store.url", "http://169.254.169.254/latest", WorkerLimits())
