"""A Python for Spark's executors as the README tells to install it, but for connect-core itself: that must be sent."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

__all__ = ["executor_python"]

_OURS = "connect-core"


def executor_python(folder: Path, *extras: str) -> Path:
    """Create a virtual environment with what ``connect-core[extras]`` depends on → its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for name in sorted(_needed(_OURS, extras) - {_OURS}):
        _link(distribution(name), packages)
    return folder / "bin" / "python"


def _needed(name: str, extras: Iterable[str]) -> set[str]:
    """Return the names of the distributions that this one needs, directly or not."""
    found: set[str] = set()
    waiting = [(name, frozenset(extras))]
    seen = set()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        found.add(one[0])
        waiting += _requirements(*one)
    return found


def _requirements(name: str, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    try:
        lines = distribution(name).requires or []
    except PackageNotFoundError:
        return
    for requirement in map(Requirement, lines):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement.name.lower().replace("_", "-"), frozenset(requirement.extras)


def _link(found: Distribution, packages: Path) -> None:
    for top in {Path(str(file)).parts[0] for file in found.files or () if ".." not in Path(str(file)).parts}:
        place = packages / top
        if not place.is_symlink() and top != "__pycache__":
            place.symlink_to(Path(str(found.locate_file(top))))
