from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from connect_core import transforms
from connect_core.registry import PluginKind, registry
from tests.connectors.test_readme import key_table

FOLDER = Path(transforms.__file__).parent
TEXT = (FOLDER / "README.md").read_text()
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^##? |\Z)", TEXT, re.DOTALL | re.MULTILINE))
KINDS = {"transforms": PluginKind.TRANSFORMATION, "predicates": PluginKind.PREDICATE}


def _module(name: str) -> str:
    words = re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()
    return f"predicates.{words}" if (FOLDER / "predicates" / f"{words}.py").exists() else words


@pytest.mark.parametrize("name", SECTIONS)
def test_readme_has_the_keys_of_the_definition(name: Any) -> None:
    config = importlib.import_module(f"connect_core.transforms.{_module(name)}").CONFIG
    assert (key_table(config) if config.sorted_keys() else "No settings.") in SECTIONS[name]


def test_readme_has_every_plugin() -> None:
    sources = [
        path
        for path in FOLDER.rglob("*.py")
        if re.search(r"^class \w+\((Transformation|Predicate)\)", path.read_text(), re.M)
    ]
    assert {path.relative_to(FOLDER).with_suffix("").as_posix().replace("/", ".") for path in sources} == {
        _module(name) for name in SECTIONS
    }


def test_example_can_be_configured() -> None:
    example = re.search(r"```properties\n(.*?)```", TEXT, re.DOTALL)
    assert example is not None
    lines = [line.partition("=") for line in example.group(1).splitlines()]
    settings = {name: value for name, _, value in lines}
    for part, kind in KINDS.items():
        for alias in settings[part].split(","):
            prefix = f"{part}.{alias}."
            config = {name.removeprefix(prefix): value for name, value in settings.items() if name.startswith(prefix)}
            registry().load(kind, config.pop("type"))().configure(config)
