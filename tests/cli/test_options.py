"""Settings of the worker that are the REST API's."""

from __future__ import annotations

import pytest

from connect_core.cli.options import rest_options
from connect_core.cli.rest import asks_for_login
from connect_core.errors import ConfigError
from connect_core.rest.headers import HeaderRule
from tests.herder.harness import worker


def test_settings_reach_the_api() -> None:
    options = rest_options(
        worker(
            **{
                "access.control.allow.origin": "http://a, http://b",
                "access.control.allow.methods": "GET,PUT",
                "response.http.headers.config": "set A: b",
                "admin.listeners": "",
            }
        )
    )
    assert (options.origins, options.methods) == (("http://a", "http://b"), ("GET", "PUT"))
    assert (options.headers, options.has_admin) == ((HeaderRule("set", "A", "b"),), False)
    assert rest_options(worker()).has_admin


def test_admin_endpoints_have_no_address_of_their_own() -> None:
    with pytest.raises(ConfigError, match=r"admin\.listeners"):
        rest_options(worker(**{"admin.listeners": "http://127.0.0.1:9999"}))


def test_login_needs_airflow() -> None:
    assert not asks_for_login(worker())
    with pytest.raises(ConfigError, match=r"airflow\.url"):
        asks_for_login(worker(**{"rest.authentication": "airflow"}))
    assert asks_for_login(worker(**{"rest.authentication": "airflow", "airflow.url": "http://a:1"}))
