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


def test_every_transform_has_its_test_module() -> None:
    modules = [file for name in ONE_EACH for file in (CODE / name).glob("*.py") if file.name != "__init__.py"]
    assert modules
    missing = [file.name for file in modules if not (TESTS / file.parent.name / f"test_{file.name}").exists()]
    assert missing == []
