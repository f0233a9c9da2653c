"""The measured parts are those of the benchmarks' kept figures, and the model meets what was measured."""

from __future__ import annotations

import pytest

from connect_core.capacity import KINDS_OF_WORK, MEASURED, Deployment, Workload, figures_with, plan_capacity
from connect_core.errors import ConfigError
from tests.architecture.sources import ROOT
from tests.capacity.parts import comparison_table, derived, plan_page, rounded

PAGE = ROOT / "connect_core/capacity/README.md"


def test_parts_are_the_kept_figures() -> None:
    assert {name: part.value for name, part in MEASURED.items()} == {
        name: rounded(value) for name, value in derived().items()
    }


def test_each_part_names_a_benchmark_that_exists() -> None:
    for part in MEASURED.values():
        assert (ROOT / f"{part.source.replace('.', '/')}.py").exists()
        assert part.unit
        assert part.what


def test_each_kind_of_work_was_measured() -> None:
    assert {name.split(".")[1] for name in MEASURED if name.startswith("records.")} == set(KINDS_OF_WORK)


def test_ones_own_figures_replace_ours() -> None:
    found = figures_with({"start.task": 9.0})
    assert found["start.task"] == 9.0
    assert found["start.api"] == MEASURED["start.api"].value


@pytest.mark.parametrize("own", [{"start.tasks": 1.0}, {"start.task": -1.0}, {"start.task": float("nan")}])
def test_wrong_figures_are_refused(own: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        figures_with(own)


def test_the_readme_compares_the_model_with_what_was_measured() -> None:
    assert comparison_table() in PAGE.read_text("utf-8")


def test_the_main_readme_shows_what_the_command_says() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    plan = plan_capacity(
        Workload(10_000, 0.05, 10_000_000, 120, "parquet", 60), Deployment(cores=16, capacity=10_000), figures_with({})
    )
    asked = "--connectors 10000 --busy 0.05 --records 10000000 --has cores=16 --has capacity=10000"
    assert f"connect plan-capacity {asked}\n" in readme
    assert plan_page(plan) in readme


def test_a_plan_of_a_thousand_connectors_is_a_deployment_one_can_have() -> None:
    plan = plan_capacity(Workload(), Deployment(), figures_with({}))
    assert plan.limit.used < 1
    assert 0 < plan.overhead < 100
