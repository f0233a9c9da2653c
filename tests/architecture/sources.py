"""The source files of the project."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

__all__ = ["ROOT", "Source", "imports", "packages", "sources"]

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Source:
    """One module of ``connect_core``, ``dags`` or ``plugins``."""

    path: Path
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax, parsed when a test first asks for it."""
        return ast.parse(self.text)

    @property
    def name(self) -> str:
        """Its path below the project."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def package(self) -> str:
        """Its first-level part: ``kafka`` for connect_core/kafka/transactional_writer.py."""
        parts = self.path.relative_to(ROOT).parts
        return parts[0] if parts[0] != "connect_core" else parts[1].removesuffix(".py")

    @property
    def is_package(self) -> bool:
        """Whether it is an ``__init__.py``."""
        return self.path.name == "__init__.py"

    def definitions(self) -> Iterator[ast.FunctionDef | ast.ClassDef]:
        """Iterate over all functions and classes, nested ones too."""
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.ClassDef))


@cache
def sources() -> tuple[Source, ...]:
    """Return every module."""
    files = sorted(file for top in ("connect_core", "dags", "plugins") for file in (ROOT / top).rglob("*.py"))
    return tuple(Source(file, file.read_text("utf-8")) for file in files)


@cache
def imports(source: Source) -> tuple[str, ...]:
    """Return the dotted names a module imports, at whatever level of nesting."""
    found: list[str] = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
    return tuple(found)


def packages() -> list[Path]:
    """Return every folder of ``connect_core`` that holds modules."""
    return sorted({source.path.parent for source in sources() if source.name.startswith("connect_core/")})
