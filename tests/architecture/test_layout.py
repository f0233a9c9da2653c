"""The tree, and the size of what is in it."""

from __future__ import annotations

import ast
import re
import subprocess

import pytest

from tests.architecture.sources import ROOT, sources

pytestmark = pytest.mark.slow

TOP = {
    *(".ci", ".dockerignore", ".github", ".gitignore", ".pre-commit-config.yaml", "Dockerfile", "LICENSE", "Makefile"),
    *("README.md", "config", "connect_core", "dags", "docker-compose.yaml", "plugins", "pyproject.toml", "tests"),
    "uv.lock",
}
DRAWERS = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc"}
RIMS = {
    "connect_core/configs/declared.py": "connector code raises whatever it likes; its settings are validated",
    "connect_core/configs/secrets.py": "plugin code raises whatever it likes; lists show all connectors",
    "connect_core/connectors/filesystem/storages/hdfs/client.py": "hands the error of a thread to the one that waits",
    "connect_core/dag/factory.py": "one connector's schedule must not take the DAGs of others down",
    "connect_core/dag/run_monitor.py": "what one look came to must not end the watcher beside it",
    "connect_core/dag/service.py": "a service goes on, whatever one round of it came to",
    "connect_core/dag/serving.py": "one request nobody foresaw must not end the service of all others",
    "connect_core/dag/threads.py": "hands the error of a thread to the one that waits",
    "connect_core/dag/watcher.py": "DAG edge",
    "connect_core/effects/connectors.py": "driver edge: connector code raises whatever it likes",
    "connect_core/effects/perform.py": "hands the error to the generator that asked for the effect",
    "connect_core/herder/attempts.py": "hands the error of a thread to the one that waits",
    "connect_core/herder/guarantee.py": "connector code raises whatever it likes; lists show all connectors",
    "connect_core/migration/report.py": "connector code raises whatever it likes; reports are of all connectors",
    "connect_core/rest/errors.py": "REST edge",
    "connect_core/task/conversion.py": "converters raise whatever they like; the record lane says of which record",
    "connect_core/task/hooks.py": "hands the error of a thread to the one that waits",
    "connect_core/task/pipeline.py": "transforms raise whatever they like; the record lane says of which record",
    "connect_core/task/polling.py": "hands the error of a thread to the one that waits",
    "connect_core/task/attempt.py": "task edge",
    "connect_core/task/planned_source.py": "task edge: what it has committed stands",
    "connect_core/task/tolerance.py": "record edge",
    "connect_core/run/driver.py": "lease, sign of life and stop requests go on, whatever one of them came to",
    "connect_core/run/probe.py": "one connector's code and settings must not stop the look at all others",
    "connect_core/standalone/session.py": "why Spark did not start is raised where it is needed",
    "connect_core/standalone/loop.py": "what a run ended by, whatever it was, is logged and it is tried again",
    "connect_core/spark/session.py": "Spark's clients raise many classes; all become one sentence",
}
BROAD = re.compile(r"^\s*except (Exception|BaseException)\b", re.MULTILINE)
LEFTOVERS = re.compile(r"\b(TODO|FIXME|XXX)\b")
SHORT = 50


def test_top_level_is_as_planned() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    assert {name.partition("/")[0] for name in listed if name} - TOP == set()


def test_no_module_is_a_drawer() -> None:
    assert [s.name for s in sources() if DRAWERS & {s.path.stem, s.path.parent.name}] == []


def test_config_holds_data_and_dags_to_copy_only() -> None:
    code = {str(place.relative_to(ROOT)) for place in (ROOT / "config").rglob("*.py")}
    assert code == {"config/hourly/hourly_counts.py"}


def test_modules_are_small() -> None:
    sizes = {source.name: source.text.count("\n") for source in sources()}
    most = {source.name: 25 if source.package in ("dags", "plugins") else 400 for source in sources()}
    assert {name: size for name, size in sizes.items() if size > most[name]} == {}


def test_most_modules_are_smaller() -> None:
    sizes = sorted(source.text.count("\n") for source in sources())
    assert sizes[len(sizes) // 2] <= 150
    assert sizes[len(sizes) * 9 // 10] <= 300


def body_lines(node: ast.FunctionDef | ast.ClassDef) -> int:
    """Return the lines of a definition without its docstring."""
    size = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node) is None or first.end_lineno is None:
        return size
    return size - (first.end_lineno - first.lineno + 1)


def test_functions_are_short() -> None:
    long = {
        f"{source.name}:{node.name}": body_lines(node)
        for source in sources()
        for node in source.definitions()
        if isinstance(node, ast.FunctionDef) and body_lines(node) > SHORT and "/migrations/" not in source.name
    }
    assert long == {}


def test_classes_are_short() -> None:
    long = {
        f"{source.name}:{node.name}": body_lines(node)
        for source in sources()
        for node in source.definitions()
        if isinstance(node, ast.ClassDef) and body_lines(node) > 250
    }
    assert long == {}


def test_broad_except_stays_at_the_rims() -> None:
    assert sorted({source.name for source in sources() if BROAD.search(source.text)} - set(RIMS)) == []


def test_nothing_is_left_for_later() -> None:
    assert [source.name for source in sources() if LEFTOVERS.search(source.text)] == []


def test_only_the_command_line_prints() -> None:
    printing = {
        source.name
        for source in sources()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    assert sorted(name for name in printing if not name.startswith(("connect_core/cli/", "connect_core/dev/"))) == []


def test_public_docstrings_begin_short() -> None:
    def first_line(node: ast.FunctionDef | ast.ClassDef) -> str:
        return (ast.get_docstring(node) or "").partition("\n")[0]

    long = [
        f"{source.name}:{node.name}"
        for source in sources()
        for node in source.definitions()
        if not node.name.startswith("_") and len(first_line(node)) > 110
    ]
    assert long == []


def test_no_machine_path_is_in_the_tree() -> None:
    path = re.compile(r"(^|[^a-z.])/(work|root)/")
    assert [source.name for source in sources() if path.search(source.text)] == []
