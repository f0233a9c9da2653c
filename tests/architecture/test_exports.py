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


@pytest.mark.parametrize("source", PACKAGES, ids=lambda source: source.name)
def test_package_only_exports(source: Source) -> None:
    docstring, *rest = source.tree.body or [None]
    assert isinstance(docstring, ast.Expr), "an __init__.py begins with a docstring"
    imported: set[str] = set()
    for node in rest:
        assert isinstance(node, ast.ImportFrom | ast.Assign), f"line {node.lineno} is logic"
        if isinstance(node, ast.ImportFrom):
            imported |= {alias.asname or alias.name for alias in node.names}
    names = exported(source) or []
    assert set(names) >= imported - {"annotations"}
    module = importlib.import_module(source.name.removesuffix("/__init__.py").replace("/", "."))
    assert [name for name in names if not hasattr(module, name)] == []


@pytest.mark.parametrize("source", LIBRARY, ids=lambda source: source.name)
def test_public_names_are_in_all(source: Source) -> None:
    if source.is_package or source.name.startswith(SCRIPTS):
        return
    names = exported(source)
    assert names is not None or not public(source), "no __all__"
    assert public(source) - set(names or ()) == set()


def test_library_says_that_it_is_typed() -> None:
    assert (LIBRARY[0].path.parent / "py.typed").exists()
