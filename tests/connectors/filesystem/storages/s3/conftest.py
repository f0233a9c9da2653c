"""One moto and one SeaweedFS for all tests; each test has a bucket of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.connectors.filesystem.storages.s3.faults import FaultyStore, faulty
from tests.connectors.filesystem.storages.s3.servers import S3Server, moto_running, seaweed_running


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


@pytest.fixture(scope="session")
def proxy() -> Iterator[FaultyStore]:
    """One for all tests: a client for each address takes its time to be made."""
    with faulty("") as store:
        yield store


@pytest.fixture
def faults(proxy: FaultyStore, server: S3Server) -> FaultyStore:
    """A proxy before the server, in order."""
    proxy.upstream, proxy.fault, proxy.without = server.url, None, frozenset()
    return proxy


@pytest.fixture
def moto_faults(proxy: FaultyStore, moto: S3Server) -> FaultyStore:
    """A proxy before moto, in order."""
    proxy.upstream, proxy.fault, proxy.without = moto.url, None, frozenset()
    return proxy
