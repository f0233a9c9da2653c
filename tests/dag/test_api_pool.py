"""What is known of the API server's database connections, and what is said of them."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from connect_core.cli.airflow_pool import check_airflow_pool, warn_of_airflow_pool
from connect_core.dag.airflow_api import AirflowApi
from connect_core.dag.airflow_client import ServiceIdentity
from connect_core.dag.api_pool import API_THREADS, ApiPool
from connect_core.dev.environment import parse_variables
from connect_core.dev.postgres import _SETTINGS
from tests.dag.fake_airflow import FakeAirflow, fake_airflow

SIZE, OVERFLOW = "AIRFLOW__DATABASE__SQL_ALCHEMY_POOL_SIZE", "AIRFLOW__DATABASE__SQL_ALCHEMY_MAX_OVERFLOW"
CHECKOUT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("size", "overflow", "is_enough"),
    [(5, 10, False), (30, 10, False), (31, 10, True), (10, 50, True), (0, 10, True), (5, -1, True)],
)
def test_pool_must_exceed_the_threads(size: int, overflow: int, is_enough: bool) -> None:
    assert ApiPool(size, overflow, "told").is_enough is is_enough


def environment(airflow: FakeAirflow, folder: Path) -> dict[str, str]:
    (folder / "password").write_text("secret")
    return {
        "CONNECT_AIRFLOW_URL": airflow.url,
        "CONNECT_AIRFLOW_USER": "admin",
        "CONNECT_AIRFLOW_PASSWORD_FILE": str(folder / "password"),
    }


def test_pool_that_airflow_tells_is_compared(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with fake_airflow() as airflow:
        told = environment(airflow, tmp_path)
        airflow.options = {"sql_alchemy_pool_size": "5", "sql_alchemy_max_overflow": "10"}
        finding = check_airflow_pool(told)
        assert finding.is_ok is False
        assert "5 + 10 database connections for 40 threads" in finding.detail
        assert SIZE in finding.remedy
        with caplog.at_level(logging.WARNING):
            identity = ServiceIdentity(airflow.url, "admin", tmp_path / "password")
            warn_of_airflow_pool(AirflowApi(identity), airflow.url)
        assert OVERFLOW in caplog.text
        airflow.options["sql_alchemy_max_overflow"] = "50"
        assert check_airflow_pool(told).is_ok is True


@pytest.mark.parametrize(("overflow", "is_ok"), [("10", False), ("50", True)])
def test_pool_of_an_airflow_on_this_machine_is_read_from_its_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overflow: str, is_ok: bool
) -> None:
    monkeypatch.setenv(SIZE, "10")
    monkeypatch.setenv(OVERFLOW, overflow)
    with fake_airflow() as airflow:
        finding = check_airflow_pool(environment(airflow, tmp_path))
    assert finding.is_ok is is_ok
    assert "configuration on this machine" in finding.detail


def test_pool_that_cannot_be_known_is_said_to_be_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("connect_core.dag.api_pool._is_here", lambda url: False)
    with fake_airflow() as airflow:
        finding = check_airflow_pool(environment(airflow, tmp_path))
    assert finding.is_ok is None
    assert "expose_config" in finding.detail
    assert SIZE in finding.detail


def test_pools_of_the_embedded_stack_fit_its_threads_and_its_database() -> None:
    settings = parse_variables(CHECKOUT / "config" / "airflow.env")
    pool = int(settings[SIZE]) + int(settings[OVERFLOW])
    assert pool > API_THREADS * int(settings["AIRFLOW__API__WORKERS"])
    (most,) = [int(line.split("=")[1]) for line in _SETTINGS.splitlines() if line.startswith("max_connections")]
    airflow, own = 4 * pool, 6 * 15
    assert airflow + own < most
