"""``connect new-connector``: an installable package with a source, a sink, or both."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from connect_core.errors import AlreadyExistsError, BadRequestError, ConnectError
from connect_core.registry import registry

__all__ = ["new_connector"]

_TEMPLATES = Path(__file__).parent / "connector_template"
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_TAKEN = sys.stdlib_module_names | {"connect_core", "tests"} | set(keyword.kwlist) | set(keyword.softkwlist)


def new_connector(
    name: Annotated[str, typer.Argument(help="Name of the package, such as acme-orders.")],
    source: Annotated[bool, typer.Option("--source", help="Include a source connector.")] = False,
    sink: Annotated[
        bool, typer.Option("--sink", help="Include a sink connector; without either option, both are included.")
    ] = False,
    folder: Annotated[Path, typer.Option(help="Where to create the package's folder.")] = Path(),
) -> None:
    """Write an installable package: connectors that run, their contract tests, README and LICENSE."""
    kinds = tuple(kind for kind, wanted in (("source", source), ("sink", sink)) if wanted) or ("source", "sink")
    package = _Package(name, kinds)
    package.check()
    place = folder / name
    _write(place, dict(package.files()))
    classes = " and ".join(f"{package.class_name}{kind.title()}" for kind in kinds)
    console = Console()
    console.print(f"[bold]{escape(name)}[/]: {classes}, in {escape(str(place))}", highlight=False, soft_wrap=True)
    console.print(f"Next: cd {escape(str(place))} && pip install -e . && pytest", highlight=False, soft_wrap=True)


@dataclass(frozen=True, slots=True)
class _Package:
    name: str
    kinds: tuple[str, ...]

    @property
    def module(self) -> str:
        return self.name.replace("-", "_")

    @property
    def class_name(self) -> str:
        return "".join(part.capitalize() for part in self.name.split("-"))

    def check(self) -> None:
        """Raise BadRequestError for a name that cannot be used."""
        if not _NAME.fullmatch(self.name):
            raise BadRequestError(
                f"{self.name!r} cannot name a package: use lower-case letters, digits and single hyphens, "
                "beginning with a letter, such as acme-orders."
            )
        if self.module in _TAKEN:
            raise BadRequestError(
                f"{self.name!r} would be imported as {self.module}, which already exists: choose another name."
            )
        for kind in self.kinds:
            found = registry().describe(f"{self.class_name}{kind.title()}")
            if found is not None and not found.name.startswith(f"{self.module}."):
                raise BadRequestError(
                    f"{self.name!r} would give a second {self.class_name}{kind.title()} beside {found.name} of "
                    f"{found.distribution}: choose another name."
                )

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield path and text of each file."""
        names = {"name": self.name, "module": self.module, "class_name": self.class_name, "title": self._title()}
        connectors = [f"{self.class_name}{kind.title()}Connector" for kind in self.kinds]
        targets = zip(self.kinds, connectors, strict=True)
        points = [f'"{self.module}.{found}" = "{self.module}.{kind}:{found}"' for kind, found in targets]
        sections = "".join(_filled(f"README.{kind}.md", names) for kind in self.kinds)
        yield "pyproject.toml", _filled("pyproject.toml", {**names, "entry_points": "\n".join(points)})
        yield "README.md", _filled("README.md", {**names, "sections": sections})
        yield "LICENSE", (_TEMPLATES / "LICENSE.tmpl").read_text("utf-8")
        yield f"{self.module}/__init__.py", _filled("__init__.py", names)
        for kind in self.kinds:
            yield f"{self.module}/{kind}.py", _filled(f"{kind}.py", names)
            yield f"tests/test_{kind}.py", _filled(f"test_{kind}.py", names)

    def _title(self) -> str:
        what = "A source and a sink" if len(self.kinds) > 1 else f"A {self.kinds[0]}"
        return f"{what} connector"


def _filled(name: str, names: Mapping[str, str]) -> str:
    return Template((_TEMPLATES / f"{name}.tmpl").read_text("utf-8")).substitute(names)


def _write(place: Path, files: Mapping[str, str]) -> None:
    """Write files below a new folder. Raise AlreadyExistsError, or ConnectError when it cannot be written."""
    try:
        place.mkdir(parents=True)
        for name, text in files.items():
            file = place / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")
    except FileExistsError as error:
        raise AlreadyExistsError(f"{error.filename} exists: choose another name or --folder, or remove it.") from error
    except OSError as error:
        raise ConnectError(
            f"{error.filename} cannot be written ({error.strerror}): choose another --folder."
        ) from error
