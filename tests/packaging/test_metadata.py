"""What the wheel declares: ranges that hold the pins, extras, entry points, and what a registry shows."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.packaging.environments import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINS = dict(line.split("==") for line in (ROOT / "config" / "constraints.txt").read_text().split())
OPTIONAL: dict[str, list[str]] = PROJECT["optional-dependencies"]
LIBRARIES = [line for lines in (PROJECT["dependencies"], *OPTIONAL.values()) for line in lines]


def requirements(*extras: str) -> Iterator[Requirement]:
    """Yield what extras install, those of other extras included; the wheel's own with the empty name."""
    for extra in extras:
        for line in OPTIONAL[extra] if extra else PROJECT["dependencies"]:
            wanted = Requirement(line)
            if wanted.name == PROJECT["name"]:
                yield from requirements(*wanted.extras)
            else:
                yield wanted


@pytest.mark.parametrize("line", sorted(set(LIBRARIES)))
def test_pin_lies_in_its_range(line: str) -> None:
    wanted = Requirement(line)
    if wanted.name != PROJECT["name"]:
        assert wanted.specifier.contains(PINS[canonicalize_name(wanted.name)])


def test_wheel_pins_nothing() -> None:
    assert [line for line in LIBRARIES if "==" in line] == []


def test_development_has_every_extra() -> None:
    everything = {wanted.name for extra in OPTIONAL for wanted in requirements(extra)}
    assert everything == {wanted.name for wanted in requirements("dev")}


def test_a_library_has_one_range_wherever_it_is_asked_for() -> None:
    ranges: dict[str, set[str]] = {}
    for wanted in requirements("", *OPTIONAL):
        ranges.setdefault(wanted.name, set()).add(str(wanted.specifier))
    assert {name: found for name, found in ranges.items() if len(found) > 1} == {}


@pytest.mark.parametrize("group", [*PROJECT["entry-points"], "console_scripts"])
def test_what_is_announced_can_be_loaded(group: str) -> None:
    announced = PROJECT["entry-points"].get(group) or PROJECT["scripts"]
    for name, target in announced.items():
        (found,) = (point for point in entry_points(group=group, name=name) if point.value == target)
        assert callable(found.load())


def test_a_registry_shows_no_machine() -> None:
    shown = (ROOT / "pyproject.toml").read_text() + (ROOT / "README.md").read_text()
    assert re.findall(r"(?:^|[^a-z.:])/(?:work|root|home)/|(?:index|extra-index|find-links)[-_ ]", shown) == []
