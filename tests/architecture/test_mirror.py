"""Where tests lie: in the folder of what they test, or the one above an inner part; whole systems have suites."""

from __future__ import annotations

from pathlib import Path

from tests.architecture.sources import ROOT

CODE, TESTS = ROOT / "connect_core", ROOT / "tests"
SUITES = {
    "architecture": "the tree",
    "benchmarks": "figures beside peers",
    "browser": "the page in a browser",
    "conformance": "Connect's golden cases",
    "deployments": "standalone, REST server and Airflow side by side",
    "docs": "what READMEs say",
    "faults": "killed and paused processes",
    "fuzz": "random chains beside Connect's classes",
    "integration": "connectors with real servers",
    "packaging": "the wheel",
    "recovery": "lost and restored metadata and targets",
    "simulator": "the commit protocol through crashes",
}
"""Folder of tests that mirrors no package → what it is about."""
ELSEWHERE = {"commit": "simulator/test_same_objects.py"}
"""Package without a folder of tests → the test that shows where it is tested."""
ONE_EACH = ("transforms",)
"""Packages of which every module has a test module of its own."""
BEHAVIOURS = {
    "connectors": "readme swapped_folder",
    "connectors/delta": "commits compaction store upsert_commits",
    "connectors/file": "source_connector source_rotation",
    "connectors/filesystem": "orc_arrays",
    "connectors/filesystem/aliases": "tables",
    "connectors/filesystem/hive": "metastore",
    "connectors/filesystem/storages/hdfs": "kills",
    "connectors/filesystem/storages/s3": "aliases faults kills",
    "connectors/iceberg": "commits compaction glue_catalog rest_catalog sql_catalog upsert_commits",
    "connectors/jdbc": "checked_address postgresql_copy postgresql_secrets postgresql_upserts sink_executions "
    "sink_lanes sink_restored sink_transactions source_clusters source_elsewhere source_late source_modes source_types "
    "two_deployments",
    "converters": "confluent_kafka readme",
    "converters/avro": "contract evolution java lanes messages numbers others recorded",
    "converters/json": "lanes",
    "converters/json_schema": "contract lanes values",
    "converters/protobuf": "contract lanes",
    "dag": "airflow airflow_calls celery dag_file lost_workers",
    "dev": "compose",
    "effects": "offsets_topic",
    "herder": "guarantee_channels strips transcript",
    "kafka": "partitioner three_brokers",
    "migration": "commands iceberg_switch live_connect three_workers tls",
    "rest": "as_connect attacks canary differences freezing login_places migration_attacks openapi stalls statements "
    "store_attacks transcript",
    "schema_registry": "apicurio_converter readme validation",
    "spark": "fairness kubernetes standalone_cluster yarn",
    "store": "external_server locks long_history",
    "task": "transactions",
    "testing": "builtin_plugins contracts filesystem_parts",
    "transforms": "lanes readme",
}
"""Folder → its test modules about a behaviour of several modules, or of a real server; all others mirror a module."""


def folders(root: Path, pattern: str) -> set[Path]:
    found = {file.parent.relative_to(root) for file in root.rglob(pattern) if file.name != "__init__.py"}
    return {folder for folder in found if folder != Path()}


def is_tested(folder: Path) -> bool:
    """Whether tests lie in the mirrored folder, or in one above it."""
    homes = [folder, *folder.parents][:-1]
    return any((TESTS / home).is_dir() and any((TESTS / home).glob("**/test_*.py")) for home in homes)


def test_every_package_has_tests_where_one_looks_for_them() -> None:
    untested = {folder.parts[0] for folder in folders(CODE, "*.py") if not is_tested(folder)}
    assert untested == set(ELSEWHERE)
    assert [place for place in ELSEWHERE.values() if not (TESTS / place).exists()] == []


def test_every_folder_of_tests_mirrors_a_package_or_is_a_suite() -> None:
    packages = {folder.with_suffix("") for folder in folders(CODE, "*.py")}
    modules = {file.relative_to(CODE).with_suffix("") for file in CODE.rglob("*.py")}
    known = {parent for path in packages | modules for parent in (path, *path.parents)}
    strange = {folder for folder in folders(TESTS, "test_*.py") if folder.parts[0] not in SUITES} - known
    assert strange == set()
    assert {name for name in SUITES if not (TESTS / name).is_dir()} == set()


def names_in(folder: Path) -> set[str]:
    """Return what a folder's test modules may be named after: modules and packages, also of inner packages."""
    home = CODE / folder
    # The tests of one module may have a folder.
    home = home if home.is_dir() else home.parent
    inner = {path.relative_to(home).with_suffix("") for path in home.rglob("*") if path.suffix in ("", ".py")}
    return {name for path in inner for name in (path.name, f"{path.name}s", "_".join(path.parts))}


def test_every_test_module_mirrors_a_module_or_is_about_a_listed_behaviour() -> None:
    files = [file.relative_to(TESTS) for file in TESTS.rglob("test_*.py")]
    mirrored = [file for file in files if len(file.parts) > 1 and file.parts[0] not in SUITES]
    others = {file for file in mirrored if file.stem.removeprefix("test_") not in names_in(file.parent)}
    listed = {Path(folder) / f"test_{name}.py" for folder, names in BEHAVIOURS.items() for name in names.split()}
    assert others == listed


def test_every_transform_has_its_test_module() -> None:
    modules = [file for name in ONE_EACH for file in (CODE / name).glob("*.py") if file.name != "__init__.py"]
    assert modules
    missing = [file.name for file in modules if not (TESTS / file.parent.name / f"test_{file.name}").exists()]
    assert missing == []
