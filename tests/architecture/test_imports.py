"""Who may import whom: the layers, one framework a package, plugins by the API alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.architecture.sources import ROOT, Source, imports, packages, sources

pytestmark = pytest.mark.slow


HOMES = {
    "airflow": {"dag", "dags", "plugins"},
    "airflow_client": {"dag"},
    "alembic": {"store"},
    "confluent_kafka": {"kafka"},
    "fastapi": {"rest", "plugins"},
    "pyspark": {"spark"},
    "sqlalchemy": {"store"},
    "starlette": {"rest", "plugins"},
    "typer": {"cli"},
}
FREE = {"dev"}
PLUGIN_LAYERS = ("connectors", "converters", "transforms")


def own(source: Source) -> set[str]:
    return {name for name in imports(source) if name.startswith("connect_core")}


def test_import_linter_is_content() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]


def test_every_folder_is_a_package() -> None:
    bare = [folder.name for folder in packages() if not (folder / "__init__.py").exists()]
    assert [name for name in bare if name != "versions"] == [], "alembic's versions are scripts, the rest is not"


@pytest.mark.parametrize("framework", sorted(HOMES))
def test_framework_stays_at_home(framework: str) -> None:
    foreign_objects = [
        source.name
        for source in sources()
        if source.package not in HOMES[framework] | FREE
        and not source.name.startswith("connect_core/connectors/jdbc/")
        # Pyiceberg's SQL catalogs take SQLAlchemy's addresses and raise its errors.
        and source.name not in {f"connect_core/connectors/iceberg/{name}.py" for name in ("catalog", "sql_address")}
        and any(name.partition(".")[0] == framework for name in imports(source))
    ]
    assert foreign_objects == []


def test_plugins_use_the_api_alone() -> None:
    allowed = ("connect_core.api", "connect_core.java", "connect_core.errors")
    more = {"converters": ("connect_core.schema_registry",)}
    foreign_objects = {
        source.name: sorted(other)
        for source in sources()
        if source.package in PLUGIN_LAYERS
        and (
            other := {
                n
                for n in own(source)
                if not n.startswith((*allowed, *more.get(source.package, ()), f"connect_core.{source.package}"))
            }
        )
    }
    assert foreign_objects == {}


def test_nothing_but_the_command_line_imports_dev() -> None:
    users = [source.name for source in sources() if any(n.startswith("connect_core.dev") for n in own(source))]
    assert [name for name in users if not name.startswith(("connect_core/dev/", "connect_core/cli/"))] == []


@pytest.mark.parametrize(
    ("parts", "absent"),
    [
        (("task",), ("sqlalchemy", "airflow", "pyspark", "fastapi", "connect_core.store")),
        (("run",), ("airflow", "pyspark", "fastapi")),
        (("plan", "commit", "configs"), ("sqlalchemy", "airflow", "pyspark", "confluent_kafka", "fastapi")),
        (("settings",), ("sqlalchemy", "airflow", "pyspark", "confluent_kafka", "connect_core.registry")),
    ],
)
def test_import_brings_nothing_heavy_along(parts: tuple[str, ...], absent: tuple[str, ...]) -> None:
    code = (
        "import importlib, pkgutil, sys\n"
        f"for name in {parts!r}:\n"
        "    package = importlib.import_module(f'connect_core.{name}')\n"
        "    for found in pkgutil.walk_packages(package.__path__, f'{package.__name__}.'):\n"
        "        importlib.import_module(found.name)\n"
        f"print(sorted(set({absent!r}) & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (result.stdout.strip(), result.stderr[-1000:]) == ("[]", "")
