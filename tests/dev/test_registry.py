"""The stack's schema registry: its download is checked, it starts when it is wanted, and doctor finds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from connect_core.dev.apicurio import apicurio_jar
from connect_core.dev.home import Home
from connect_core.dev.probes import check_registry
from connect_core.dev.registry import REGISTRY
from connect_core.dev.services import CELERY_NAMES, SERVICES, SPARK_CLUSTER_NAMES, STANDARD
from connect_core.dev.stack import Silent, Stack
from connect_core.errors import ConnectError
from tests.integration.ports import free_port
from tests.schema_registry.fault_server import Answer, FaultServer, fault_server, refusal

pytestmark = pytest.mark.slow

_MIRROR = "<settings><mirrors><mirror><mirrorOf>*</mirrorOf><url>{url}/maven</url></mirror></mirrors></settings>"
_FILE = "/maven/io/apicurio/apicurio-registry-app/3.0.9/apicurio-registry-app-3.0.9-all.tar.gz"
_URL = "CONNECT_SCHEMA_REGISTRY_URL"


def mirrored(folder: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".m2").mkdir()
    (folder / ".m2" / "settings.xml").write_text(_MIRROR.format(url=server.url))
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("CONNECT_CACHE", str(folder / "cache"))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(body=b"another file"), "is not apicurio-registry-3.0.9"),
        (Answer(body=b"cut off", cut=True), "could not be downloaded"),
        (refusal(404, 404), "could not be downloaded"),
    ],
)
def test_another_download_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Answer, why: str) -> None:
    with fault_server() as server:
        mirrored(tmp_path, server, monkeypatch)
        server.answers[_FILE] = [answer]
        with pytest.raises(ConnectError, match=why):
            apicurio_jar(lambda line: None)
    assert [file.name for file in (tmp_path / "cache").iterdir()] == ["apicurio-registry-3.0.9.lock"]


def test_it_is_started_only_when_it_is_wanted() -> None:
    assert set(SERVICES) - set(STANDARD) == {"registry", *CELERY_NAMES, *SPARK_CLUSTER_NAMES}
    assert Stack(Path("x")).services == STANDARD


def test_its_address_is_exported(tmp_path: Path) -> None:
    home = Home(tmp_path, tmp_path)
    (home.folder("registry") / "port").write_text("8081\n")
    assert REGISTRY.exports(home) == {_URL: "http://127.0.0.1:8081/apis/ccompat/v7"}


def test_doctor_skips_a_registry_that_does_not_run() -> None:
    assert check_registry({}).is_ok is None
    assert check_registry({_URL: f"http://127.0.0.1:{free_port()}"}).is_ok is None


def test_doctor_says_what_a_registry_holds() -> None:
    with fault_server() as server:
        server.answers["/subjects"] = [Answer(body=b'["a", "b"]')]
        server.answers["/config"] = [Answer(body=b'{"compatibilityLevel": "FULL"}')]
        server.answers["/mode"] = [Answer(body=b'{"mode": "READONLY"}'), refusal(404, 404)]
        found = [check_registry({_URL: server.url}).detail for _ in range(2)]
        assert found == [
            f"2 subjects, compatibility FULL, mode {mode} at {server.url}" for mode in ("READONLY", "READWRITE")
        ]
        server.answers["/subjects"] = [refusal(401, 401)]
        assert check_registry({_URL: server.url}).is_ok is False


@pytest.mark.servers
def test_it_starts_and_ends_with_the_stack(tmp_path: Path) -> None:
    stack = Stack(tmp_path / ".connect", ("registry",))
    try:
        stack.up(Silent())
        found = check_registry(stack.environment())
        assert found.is_ok, found
        assert found.detail.startswith("0 subjects, compatibility ")
    finally:
        stack.down()
    assert check_registry(stack.environment()).is_ok is None
