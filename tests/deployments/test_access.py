"""Who may do what on every route of the three deployments. Leaves the workers empty."""

from __future__ import annotations

import httpx
import pytest

from connect_core.dev.secrets import secret
from tests.deployments.stack import Deployments, Standalone, token_of

pytestmark = [pytest.mark.browser, pytest.mark.servers]

VALUES = {"connector": "a", "task": "0", "plugin": "FileStreamSource", "logger": "root", "sequence": "1"}


def operations(deployments: Deployments) -> list[tuple[str, str]]:
    described = httpx.get(f"{deployments.mounted}/openapi.json", headers=deployments.header, timeout=60).json()["paths"]
    return [(method.upper(), path.format(**VALUES)) for path, methods in described.items() for method in methods]


def test_without_a_login_only_health_answers(deployments: Deployments) -> None:
    walked = [
        *operations(deployments),
        ("GET", "/docs"),
        ("GET", "/openapi.json"),
        ("GET", "/ui/"),
        ("GET", "/metrics"),
    ]
    with httpx.Client(timeout=60) as client:
        found = {(method, path): client.request(method, deployments.mounted + path) for method, path in walked}
    assert len(found) > 40
    assert {key: one.status_code for key, one in found.items() if one.status_code != 401} == {("GET", "/health"): 200}


def may(role: str, method: str, path: str) -> bool:
    """Say what a role of Airflow's simple auth manager may do: loggers and imports are those of Airflow's server."""
    if method == "GET" or path.endswith("/preview"):
        return True
    return role in (("op", "admin") if path.startswith(("/admin/", "/v1/import/")) else ("user", "op", "admin"))


@pytest.mark.parametrize("role", ["viewer", "user", "op", "admin"])
def test_each_role_may_do_its_part_on_every_route(deployments: Deployments, role: str) -> None:
    """Nobody is named so, and nothing is asked for: who is let in gets 400 or 404, and nothing changes."""
    token = token_of(deployments.airflow, role, secret(deployments.stack.home, f"airflow-password-{role}"))
    wrong: dict[tuple[str, ...], int] = {}
    with httpx.Client(base_url=deployments.mounted, headers={"Authorization": f"Bearer {token}"}, timeout=60) as client:
        for method, path in operations(deployments):
            body = {"name": "a", "config": {}} if path == "/connectors" else {"name": "a"}
            status = client.request(method, path, json=None if method == "GET" else body).status_code
            if (status not in (401, 403)) is not may(role, method, path):
                wrong[method, path] = status
        assert wrong == {}
        assert client.get("/connectors").json() == []


FOREIGN = ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"})


@pytest.mark.parametrize("deployment", ["rest", "standalone"])
def test_local_deployments_accept_this_machine_and_refuse_web_pages(
    deployments: Deployments, standalone_deployment: Standalone, deployment: str
) -> None:
    """Those need no login. A rebound name reads nothing, a page of another origin changes nothing, on every route."""
    base = deployments.rest if deployment == "rest" else standalone_deployment.base
    wrong: dict[tuple[str, ...], int] = {}
    with httpx.Client(base_url=base, timeout=60) as client:
        for method, path in operations(deployments):
            body = None if method == "GET" else {"name": "a", "config": {}} if path == "/connectors" else {"name": "a"}
            own = client.request(method, path, json=body).status_code
            if own in (401, 403):
                wrong[method, path] = own
            for headers in FOREIGN:
                refusal = 401 if "Host" in headers else 403
                is_allowed = path == "/health" if "Host" in headers else method == "GET"
                status = client.request(method, path, json=body, headers=headers).status_code
                if (status != refusal) is not is_allowed:
                    wrong[method, path, *headers] = status
        assert wrong == {}
        assert client.get("/connectors").json() == []


def test_viewer_may_look_and_change_nothing(deployments: Deployments) -> None:
    token = token_of(deployments.airflow, "viewer", secret(deployments.stack.home, "airflow-password-viewer"))
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=deployments.mounted, headers=headers, timeout=60) as client:
        assert client.get("/connectors").json() == []
        config = {"connector.class": "FileStreamSource", "topic": "t", "file": "/tmp/x"}
        assert client.post("/connectors", json={"name": "a", "config": config}).status_code == 403
        assert client.put("/connectors/a/config", json=config).status_code == 403
        assert client.put("/connectors/a/pause").status_code == 403
        assert client.delete("/connectors/a").status_code == 403


def test_page_of_another_site_changes_nothing_with_the_cookie(deployments: Deployments) -> None:
    with httpx.Client(base_url=deployments.mounted, cookies={"_token": deployments.token}, timeout=60) as client:
        assert client.get("/connectors").status_code == 200
        for foreign in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
            assert client.put("/connectors/a/pause", headers=foreign).status_code == 403
        # Nobody of that name: it was let through.
        assert client.put("/connectors/a/pause", headers={"Origin": deployments.airflow}).status_code == 404
