"""What Connect answers where one would expect something else, asked of a served API."""

from __future__ import annotations

from dataclasses import replace

import pytest

from connect_core.rest import LoopbackAuthorizer
from tests.herder.harness import SINK, SOURCE, Harness, worker
from tests.rest.conftest import Client, app_of
from tests.rest.test_attacks import Serve

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("config", [SOURCE, SINK], ids=["source", "sink"])
def test_file_connector_without_a_file_is_taken_as_its_task_will_fail(call: Client, config: dict[str, str]) -> None:
    bare = {key: value for key, value in config.items() if key != "file"}
    kind = bare["connector.class"]
    answer = call("PUT", f"/connector-plugins/{kind}/config/validate", {"name": "bare", **bare})
    assert (answer.status, answer.json["error_count"]) == (200, 0)
    assert call("POST", "/connectors", {"name": "bare", "config": bare}).status == 201


def test_version_that_no_plugin_fits_is_an_error_of_class_and_version(call: Client) -> None:
    config = {"name": "a", **SOURCE, "connector.plugin.version": "[99,100)"}
    found = call("PUT", "/connector-plugins/FileStreamSource/config/validate", config).json
    assert found["error_count"] == 2
    wrong = {one["value"]["name"] for one in found["configs"] if one["value"]["errors"]}
    assert wrong == {"connector.class", "connector.plugin.version"}


def test_exactly_once_that_the_worker_has_switched_off_is_refused(harness: Harness, serve: Serve) -> None:
    config = {"name": "a", **SOURCE, "file": "x", "exactly.once.support": "required"}
    for setting, errors in (("enabled", 0), ("disabled", 1)):
        harness.herder = replace(harness.herder, worker=worker(**{"exactly.once.source.support": setting}))
        call = serve(app_of(harness, LoopbackAuthorizer()))
        found = call("PUT", "/connector-plugins/FileStreamSource/config/validate", config).json
        assert found["error_count"] == errors, setting


def test_null_partition_of_a_source_is_an_error_of_the_server(call: Client, harness: Harness) -> None:
    harness.create("a", {**SOURCE, "file": "x"})
    assert call("PUT", "/connectors/a/stop").status == 204
    body = {"offsets": [{"partition": None, "offset": {"position": 1}}]}
    assert call("PATCH", "/connectors/a/offsets", body).status == 500


def test_level_beside_keys_nobody_knows_is_set(call: Client) -> None:
    body = {"level": "DEBUG", "unknown": "x"}
    assert call("PUT", "/admin/loggers/connect_core.rest.as_connect", body).status == 200


def test_task_of_a_stopped_connector_cannot_be_restarted(call: Client, harness: Harness) -> None:
    harness.create()
    harness.driver().begin()
    assert call("PUT", "/connectors/a/stop").status == 204
    assert call("POST", "/connectors/a/tasks/0/restart").status == 409
    assert call("POST", "/connectors/a/tasks/1/restart").status == 404


def test_null_in_a_configuration_is_an_error_at_its_key(call: Client) -> None:
    config = {"name": "a", **SOURCE, "file": "x", "tasks.max": None}
    found = call("PUT", "/connector-plugins/FileStreamSource/config/validate", config).json
    errors = {one["value"]["name"]: one["value"]["errors"] for one in found["configs"] if one["value"]["errors"]}
    assert "Null value can not be supplied as the configuration value." in errors["tasks.max"]
