"""What a module exports is said once, sorted, and there."""

from __future__ import annotations

import ast
import importlib

import pytest

from tests.architecture.sources import Source, sources

LIBRARY = [source for source in sources() if source.name.startswith("connect_core/")]
SCRIPTS = ("connect_core/cli/", "connect_core/store/migrations/")
"""Commands are registered, migrations are run: nobody imports their names."""
PACKAGES = [source for source in LIBRARY if source.is_package and not source.name.startswith(SCRIPTS)]


def exported(source: Source) -> list[str] | None:
    """Return the ``__all__`` of a module, ``None`` where there is none."""
    for node in source.tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return list(ast.literal_eval(node.value))
    return None


def public(source: Source) -> set[str]:
    """Return the names a module defines that do not begin with an underscore."""
    found = {node.name for node in source.tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return {name for name in found if not name.startswith("_")}


def wrong_in_package(source: Source) -> str | None:
    """Return what an ``__init__.py`` does beside exporting, ``None`` where it is nothing."""
    docstring, *rest = source.tree.body or [ast.Pass()]
    if not isinstance(docstring, ast.Expr):
        return "does not begin with a docstring"
    imported: set[str] = set()
    for node in rest:
        if not isinstance(node, ast.ImportFrom | ast.Assign):
            return "holds logic"
        if isinstance(node, ast.ImportFrom):
            imported |= {alias.asname or alias.name for alias in node.names}
    names = exported(source) or []
    module = importlib.import_module(source.name.removesuffix("/__init__.py").replace("/", "."))
    missing = imported - {"annotations"} - set(names)
    unknown = [name for name in names if not hasattr(module, name)]
    return f"__all__: not {missing}, but {unknown}" if missing or unknown else None


def test_packages_only_export() -> None:
    found = {source.name: wrong_in_package(source) for source in PACKAGES}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.slow
def test_public_names_are_in_all() -> None:
    modules = [one for one in LIBRARY if not one.is_package and not one.name.startswith(SCRIPTS)]
    missing = {source.name: public(source) - set(exported(source) or ()) for source in modules}
    assert {name: names for name, names in missing.items() if names} == {}


def test_library_says_that_it_is_typed() -> None:
    assert (LIBRARY[0].path.parent / "py.typed").exists()
