"""The code sent to Spark workers: connect-core and every installed plugin, in one zip."""

from __future__ import annotations

import hashlib
import marshal
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.metadata import Distribution, entry_points
from importlib.util import MAGIC_NUMBER, find_spec, source_hash
from pathlib import Path

from connect_core.settings.private_folder import is_private_file

__all__ = ["CodeArchive", "build_archive"]

_ANNOUNCING = ("METADATA", "entry_points.txt")
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class CodeArchive:
    """A zip of Python packages, named by the digest of its content."""

    path: Path
    digest: str


@cache
def build_archive(folder: Path) -> CodeArchive:
    """Write the zip into ``folder``, a private one, unless it is there unchanged, and return it."""
    files = sorted(_sources())
    digest = hashlib.sha256()
    for name, path in files:
        digest.update(name.encode())
        digest.update(path.read_bytes())
    archive = folder / f"connect-{digest.hexdigest()[:16]}.zip"
    if not _is_ours(archive):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Several processes may build the same archive at once: each has its own draft.
        descriptor, draft = tempfile.mkstemp(".part", dir=folder)
        os.close(descriptor)
        _write(Path(draft), files)
        _keep_digest(Path(draft), archive)
        Path(draft).replace(archive)
    return CodeArchive(archive, digest.hexdigest()[:16])


def _is_ours(archive: Path) -> bool:
    """Return whether the archive is complete and was written by this user."""
    beside = _digest_file(archive)
    if not is_private_file(archive) or not is_private_file(beside):
        return False
    return beside.read_text() == _sha256(archive)


def _keep_digest(draft: Path, archive: Path) -> None:
    descriptor, name = tempfile.mkstemp(".part", dir=archive.parent)
    with os.fdopen(descriptor, "w") as file:
        file.write(_sha256(draft))
    Path(name).replace(_digest_file(archive))


def _digest_file(archive: Path) -> Path:
    return archive.with_suffix(".sha256")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write(path: Path, files: list[tuple[str, Path]]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, source in files:
            target.writestr(zipfile.ZipInfo(name, _EPOCH), source.read_bytes(), zipfile.ZIP_DEFLATED)
            if source.suffix == ".py":
                target.writestr(zipfile.ZipInfo(f"{name}c", _EPOCH), _compiled(source), zipfile.ZIP_DEFLATED)


def _compiled(source: Path) -> bytes:
    """Return a module's code in PEP 552 form, unchecked: Python does not cache what it imports from a zip."""
    code = SourceFileLoader(source.stem, str(source)).get_code(source.stem)
    flags = 0b01
    return MAGIC_NUMBER + flags.to_bytes(4, "little") + source_hash(source.read_bytes()) + marshal.dumps(code)


def _sources() -> Iterator[tuple[str, Path]]:
    plugins = entry_points(group="connect_core.plugins")
    yield from _announcements({entry.dist.name: entry.dist for entry in plugins if entry.dist is not None})
    modules = {entry.value.partition(":")[0].partition(".")[0] for entry in plugins}
    for module in sorted({"connect_core", *modules}):
        spec = find_spec(module)
        if spec is None:
            continue
        if spec.submodule_search_locations:
            root = Path(next(iter(spec.submodule_search_locations)))
            for path in root.rglob("*"):
                if path.is_file() and "__pycache__" not in path.parts:
                    yield f"{module}/{path.relative_to(root).as_posix()}", path
        elif spec.origin:
            yield Path(spec.origin).name, Path(spec.origin)


def _announcements(distributions: Mapping[str, Distribution]) -> Iterator[tuple[str, Path]]:
    """Yield the files by which a worker without the plugin installed finds its entry points."""
    for distribution in distributions.values():
        for file in distribution.files or ():
            if file.parent.name.endswith(".dist-info") and file.name in _ANNOUNCING:
                yield file.as_posix(), Path(str(file.locate()))
