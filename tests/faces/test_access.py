"""Who may do what in the API as Airflow's own server mounts it. Leaves the worker empty."""

from __future__ import annotations

import httpx
import pytest

from connect_core.dev.secrets import secret
from tests.faces.stack import Faces, token_of

pytestmark = [pytest.mark.browser, pytest.mark.servers]

VALUES = {"connector": "a", "task": "0", "plugin": "FileStreamSource", "logger": "root", "sequence": "1"}


def operations(faces: Faces) -> list[tuple[str, str]]:
    described = httpx.get(f"{faces.mounted}/openapi.json", headers=faces.header, timeout=60).json()["paths"]
    return [(method.upper(), path.format(**VALUES)) for path, methods in described.items() for method in methods]


def test_without_a_login_only_health_answers(faces: Faces) -> None:
    walked = [*operations(faces), ("GET", "/docs"), ("GET", "/openapi.json"), ("GET", "/ui/"), ("GET", "/metrics")]
    with httpx.Client(timeout=60) as client:
        found = {(method, path): client.request(method, faces.mounted + path) for method, path in walked}
    assert len(found) > 40
    assert {key: one.status_code for key, one in found.items() if one.status_code != 401} == {("GET", "/health"): 200}


def test_viewer_may_look_and_change_nothing(faces: Faces) -> None:
    token = token_of(faces.airflow, "viewer", secret(faces.stack.home, "airflow-password-viewer"))
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=faces.mounted, headers=headers, timeout=60) as client:
        assert client.get("/connectors").json() == []
        config = {"connector.class": "FileStreamSource", "topic": "t", "file": "/tmp/x"}
        assert client.post("/connectors", json={"name": "a", "config": config}).status_code == 403
        assert client.put("/connectors/a/config", json=config).status_code == 403
        assert client.put("/connectors/a/pause").status_code == 403
        assert client.delete("/connectors/a").status_code == 403


def test_page_of_another_site_changes_nothing_with_the_cookie(faces: Faces) -> None:
    with httpx.Client(base_url=faces.mounted, cookies={"_token": faces.token}, timeout=60) as client:
        assert client.get("/connectors").status_code == 200
        for foreign in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
            assert client.put("/connectors/a/pause", headers=foreign).status_code == 403
        # Nobody of that name: it was let through.
        assert client.put("/connectors/a/pause", headers={"Origin": faces.airflow}).status_code == 404
