"""One moto and one SeaweedFS for all tests; each test has a bucket of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.connectors.filesystem.s3.servers import S3Server, moto_running, seaweed_running


@pytest.fixture(scope="session")
def moto_url() -> Iterator[str]:
    with moto_running() as url:
        yield url


@pytest.fixture(scope="session")
def seaweed_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with seaweed_running(tmp_path_factory.mktemp("seaweed")) as url:
        yield url


@pytest.fixture
def moto(moto_url: str) -> S3Server:
    return S3Server(moto_url)


@pytest.fixture
def seaweed(seaweed_url: str) -> S3Server:
    return S3Server(seaweed_url)


@pytest.fixture(params=["moto", pytest.param("seaweed", marks=pytest.mark.servers)])
def server(request: pytest.FixtureRequest) -> S3Server:
    """Both of them, one after the other."""
    found: S3Server = request.getfixturevalue(request.param)
    return found
