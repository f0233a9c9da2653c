"""Schema texts to descriptors, by protoc in a separate process: a text comes from outside and may be hostile.

The process has limits of time and memory, an empty working folder, and can
import only files of that folder and Google's own files.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from google.protobuf import descriptor_pb2

from connect_core.converters.bounded_cache import BoundedCache
from connect_core.converters.protobuf.schemas.described_files import described_by
from connect_core.converters.protobuf.schemas.known_files import CONFLUENT_FILES, META_IMPORT, google_folders
from connect_core.errors import DataError, MissingLibraryError

__all__ = ["ROOT", "compiled"]

ROOT = "connect_root.proto"
"""The name of the schema's own file."""

LARGEST = 2 << 20
"""Most characters of a schema with those it refers to."""

_SECONDS = 20
_MEMORY = 2 << 30
_CACHE = 64
_RUN = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({_MEMORY}, {_MEMORY}))
resource.setrlimit(resource.RLIMIT_CPU, ({_SECONDS}, {_SECONDS}))
from grpc_tools import protoc
sys.exit(protoc.main(sys.argv))
"""
_STATEMENTS = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?P<map>\boption\s+map_entry\s*=\s*\w+\s*;)"""
    r"""|(?P<meta>\(\s*\.?confluent\.\w+_meta\s*\))|(?P<import>\bimport\s+(?:public\s+|weak\s+)?["']confluent/meta.proto["'])""",
    re.DOTALL,
)
_DECLARED = re.compile(r"""\A(?:\s|//[^\n]*\n|/\*.*?\*/)*(?:(?:syntax|edition)\s*=\s*["']\w+["']\s*;)?""", re.DOTALL)
_known: BoundedCache[str, bytes] = BoundedCache(_CACHE)
_lock = threading.Lock()


def compiled(text: str, resolved: Sequence[tuple[str, str]]) -> bytes:
    """Return the FileDescriptorSet of a text and its imports; the text's own file is named ``ROOT``.

    resolved: the other texts by their names in imports. A text may
    be a descriptor in base64, as some clients register it. This process caches
    the results. Raise DataError for a bad text, and for one that is
    too big or takes too long.
    """
    size = len(text) + sum(len(other) for _, other in resolved)
    if size > LARGEST:
        raise DataError(f"A Protobuf schema of {size} characters with its references exceeds the limit of {LARGEST}")
    key = hashlib.sha256(repr((text, *resolved)).encode(errors="surrogatepass")).hexdigest()
    with _lock:
        known = _known.get(key)
    if known is not None:
        return known
    files = {**dict(resolved), ROOT: text}
    described = {name: file for name, one in files.items() if (file := described_by(one, name)) is not None}
    found = _joined(files, described) if described else _compile(files)
    with _lock:
        return _known.put(key, found)


def _joined(files: dict[str, str], described: dict[str, descriptor_pb2.FileDescriptorProto]) -> bytes:
    """Return files of which some are already descriptors: only the imports of those are compiled."""
    texts = {name: text for name, text in files.items() if name not in described}
    wanted = [name for file in described.values() for name in file.dependency if name not in described]
    found = descriptor_pb2.FileDescriptorSet()
    if wanted:
        imports = "".join(f'import "{name}";' for name in dict.fromkeys(wanted))
        content = _compile({**texts, ROOT: texts.get(ROOT) or f'syntax = "proto3"; {imports}'})
        compiled_files = descriptor_pb2.FileDescriptorSet.FromString(content).file
        found.file.extend(file for file in compiled_files if file.name != ROOT or ROOT in texts)
    found.file.extend(described.values())
    content_of_all: bytes = found.SerializeToString()
    return content_of_all


def _compile(files: dict[str, str]) -> bytes:
    includes = google_folders()
    if not includes:
        raise MissingLibraryError("grpc_tools", "schema-registry")
    with tempfile.TemporaryDirectory(prefix="connect-protoc-") as name:
        folder = Path(name)
        own = folder / "files"
        for path, text in {**CONFLUENT_FILES, **files}.items():
            _write(own, path, text)
        result = folder / "result"
        paths = [f"--proto_path={path}" for path in (own, *includes)]
        options = [*paths, "--include_imports", f"--descriptor_set_out={result}", ROOT]
        _run([sys.executable, "-I", "-c", _RUN, *options], own)
        return result.read_bytes()


def _write(folder: Path, name: str, text: str) -> None:
    """Write a file into a folder, rejecting names that point outside of it."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\\" in name or "\0" in name or len(name) > 1000:
        raise DataError(f"A Protobuf schema is imported as {name[:200]!r}, which is not a path below its own folder")
    path = folder.joinpath(*parts)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if name in CONFLUENT_FILES else _adapted(text), "utf-8")
    except (OSError, UnicodeEncodeError) as error:
        raise DataError(f"A Protobuf schema, imported as {name[:200]!r}, cannot be written for the compiler") from error


def _adapted(text: str) -> str:
    """Return a text in the form that protoc accepts.

    Confluent's serializers register maps as messages with ``map_entry``, which
    only protoc may set, and options of their meta file without importing it.
    """
    found = {match.lastgroup for match in _STATEMENTS.finditer(text) if match.lastgroup}
    if "map" in found:
        text = _STATEMENTS.sub(lambda match: "" if match.lastgroup == "map" else match.group(), text)
    if "meta" in found and "import" not in found:
        declared = _DECLARED.match(text)
        at = 0 if declared is None else declared.end()
        text = f'{text[:at]} import "{META_IMPORT}"; {text[at:]}'
    return text


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, env={}
        )
    except subprocess.TimeoutExpired as error:
        raise DataError(f"A Protobuf schema was not compiled within {_SECONDS} s") from error
    if done.returncode == 0:
        return
    problem = done.stderr.decode(errors="replace").strip()[-500:] or f"the compiler exited with {done.returncode}"
    if "No module named 'grpc_tools'" in problem:
        raise MissingLibraryError("grpc_tools", "schema-registry")
    raise DataError(f"A Protobuf schema cannot be compiled: {problem.replace(ROOT, 'the schema')}")
