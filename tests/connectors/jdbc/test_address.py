"""Addresses of databases in messages: none shows a password, wherever it was written."""

from __future__ import annotations

import time

import pytest

from connect_core.api import WorkerLimits
from connect_core.connectors.jdbc.address import database_url, parse_address
from connect_core.errors import ConfigError

LOGIN = (None, None)


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:postgresql://bob:s3/canary@db:5432/shop",
        "jdbc:postgresql://bob:12/canary@db/shop",
        "jdbc:postgresql://bob:12?canary@db/shop",
        "jdbc:postgresql://bob:canary@canary@db/shop",
        "postgresql://bob:x=canary@db/shop",
        "postgresql://db/shop?password=canary@canary",
        "postgresql://db/shop?password=x&canary",
        "jdbc:sqlserver://db;user=bob;password=x;canary",
        "jdbc:oracle:thin:scott/canary@host",
        "jdbc:oracle:thin:@//scott:canary@host",
        "postgresql:bob:canary@host",
        "jdbc:postgresql://bob:canary\n@db/shop",
        "//bob:canary@db",
    ],
)
def test_no_password_is_shown(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        database_url(url, LOGIN, WorkerLimits())
    assert "canary" not in str(refused.value)


def test_place_is_shown_without_its_login() -> None:
    with pytest.raises(ConfigError, match=r"jdbc:postgresql://…@db:5432/shop.* use connection\.user"):
        parse_address("jdbc:postgresql://bob:pa@ss@db:5432/shop")


def test_database_may_have_an_at_sign_in_its_name() -> None:
    assert parse_address("postgresql://db/shop%402").database == "shop@2"
    assert parse_address("sqlite:///folder/a@b.db").database == "folder/a@b.db"


def test_long_url_is_refused_at_once() -> None:
    begun = time.monotonic()
    for url in ("//" * 500_000, "jdbc:postgresql:" + "//a@" * 300_000, "a:" * 500_000 + "@", "=" * 500_000 + "@"):
        with pytest.raises(ConfigError):
            database_url(url, LOGIN, WorkerLimits())
    assert time.monotonic() - begun < 10
