"""Time-outs of Airflow that make recovery slow are named with what to set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from connect_core.cli.doctor import CHECKS
from connect_core.cli.time_outs import check_time_outs, slow_time_outs
from connect_core.dag.time_outs import TIME_OUTS, read_here, slow_ones
from connect_core.errors import ConnectError


@dataclass
class Shown:
    """Airflow that shows these settings, or none."""

    values: Mapping[str, str] = field(default_factory=dict)

    def call(self, method: str, path: str, fine: tuple[int, ...] = (), **options: Any) -> Any:
        *_, section, _, key = path.split("/")
        if key not in self.values:
            raise ConnectError("Airflow answered 403")
        return {"sections": [{"name": section, "options": [{"key": key, "value": self.values[key]}]}]}


def test_defaults_of_airflow_are_slow() -> None:
    defaults = {"task_instance_heartbeat_timeout": "300", "task_queued_timeout": "600.0"}
    slow, where = slow_time_outs(Shown(defaults))
    assert where == "as Airflow says"
    assert [(one.time_out.key, one.seconds) for one in slow] == [
        ("task_instance_heartbeat_timeout", 300.0),
        ("task_queued_timeout", 600.0),
    ]
    assert "AIRFLOW__SCHEDULER__TASK_QUEUED_TIMEOUT" in str(slow[1])


def test_short_ones_are_not_named() -> None:
    assert slow_time_outs(Shown({one.key: f"{one.most}" for one in TIME_OUTS}))[0] == []


def test_settings_of_this_machine_count_where_airflow_does_not_show_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for one in TIME_OUTS:
        monkeypatch.setenv(one.variable, "10")
    monkeypatch.setenv("AIRFLOW__TRIGGERER__TRIGGERER_HEALTH_CHECK_THRESHOLD", "900")
    slow, where = slow_time_outs(Shown())
    assert "this machine" in where
    assert [(one.time_out.key, one.seconds) for one in slow] == [("triggerer_health_check_threshold", 900.0)]


def test_all_settings_exist_in_the_installed_airflow() -> None:
    assert [one.key for one in TIME_OUTS if read_here(one) is None] == []


def test_what_is_no_number_is_passed_over() -> None:
    assert list(slow_ones(lambda one: "soon")) == []


def test_doctor_skips_them_without_an_airflow() -> None:
    assert check_time_outs in CHECKS
    assert check_time_outs({}).is_ok is None
