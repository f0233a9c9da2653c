"""Programs the tests drive that no Python package has: the machine's own, else Debian's packages unpacked in a folder.

Nothing is installed and no root is needed: ``apt-get`` keeps its lists in that folder, too.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from connect_core.settings.user_cache import user_cache

__all__ = [
    "Program",
    "azurite",
    "chromium",
    "helm",
    "mariadb_client",
    "mariadb_server",
    "maven_jars",
    "prepare",
    "unpacked",
]

_SECONDS = 300.0


class UnavailableError(Exception):
    """The program is neither installed nor to be had; the text says why."""


@dataclass(frozen=True, slots=True)
class Program:
    """Where a program is, and the environment variables it needs beside those of this process."""

    path: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """Return the whole environment to start it with."""
        return {**os.environ, **self.variables}


def mariadb_server() -> Program:
    """Return MariaDB's server. Skips the test where it cannot be had."""
    return _or_skip(lambda: _program("mariadbd", "usr/sbin/mariadbd", ("mariadb-server-core", "mariadb-client-core")))


def mariadb_client() -> Program:
    """Return MariaDB's client. Skips the test where it cannot be had."""
    return _or_skip(lambda: _program("mariadb", "usr/bin/mariadb", ("mariadb-server-core", "mariadb-client-core")))


def chromium() -> Program:
    """Return Chromium. Skips the test where it cannot be had."""
    return _or_skip(lambda: _program("chromium", "usr/lib/chromium/chromium", ("chromium",)))


def azurite() -> Program:
    """Return Azure's emulator of blobs, from the npm registry. Skips the test where it cannot be had."""
    return _or_skip(lambda: Program(_npm("azurite", "3.37.0") / "node_modules" / ".bin" / "azurite-blob"))


def helm() -> Program:
    """Return a Python that has Helm's SDK and the schemas of Kubernetes. Skips the test where they cannot be had."""

    def found() -> Program:
        folder = _wheels("helm", ("helm-python-sdk==0.2.2", "kubernetes-validate==1.37.0"))
        return Program(Path(sys.executable), {"PYTHONPATH": str(folder)})

    return _or_skip(found)


def maven_jars(name: str, pom: Path, properties: Mapping[str, str] | None = None) -> Path:
    """Return a folder, kept per user, with the jars that a POM needs at run time.

    By Maven: they have classifiers, or dependencies of which some are left out. Skips the test without it or a network.
    """
    folder = user_cache() / name
    if not folder.exists():
        if shutil.which("mvn") is None:
            pytest.skip(f"there is no mvn to fetch {name} with")
        scratch = folder.with_name(f"{folder.name}.{time.monotonic_ns()}")
        command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", "-DincludeScope=runtime"]
        command += [f"-D{key}={value}" for key, value in (properties or {}).items()]
        done = subprocess.run([*command, f"-DoutputDirectory={scratch}"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"{name} cannot be fetched: {done.stdout[-300:]}")
        scratch.rename(folder)
    return folder


def prepare(found: Callable[[], Program]) -> str:
    """Have a program ready before the tests begin → a line that says where it is, or why it is missing."""
    try:
        return f"{found.__name__}: {found().path}"
    except pytest.skip.Exception as reason:
        return f"{found.__name__} is missing, its tests will not run: {reason}"


def _or_skip(found: Callable[[], Program]) -> Program:
    try:
        return found()
    except UnavailableError as reason:
        pytest.skip(str(reason))


def _program(name: str, place: str, packages: tuple[str, ...]) -> Program:
    installed = shutil.which(name)
    if installed is not None:
        return Program(Path(installed))
    reason = _attempt(packages)
    if reason is not None:
        raise UnavailableError(f"{name} is not installed (Debian: apt-get install {packages[0]}), and {reason}")
    root = unpacked(packages)
    libraries = sorted({str(file.parent) for file in root.glob("usr/lib/**/*.so*")} | {str(root / "usr/lib")})
    return Program(root / place, {"LD_LIBRARY_PATH": ":".join(libraries), "FONTCONFIG_PATH": str(root / "etc/fonts")})


@cache
def _attempt(packages: tuple[str, ...]) -> str | None:
    """Unpack packages once a process → why that failed."""
    try:
        unpacked(packages)
    except UnavailableError as error:
        return str(error)
    return None


@cache
def _npm(package: str, version: str) -> Path:
    """Return a folder with a package of the npm registry. Raises UnavailableError."""
    root = _folder() / f"{package}-{version}"
    if root.exists():
        return root
    if shutil.which("npm") is None:
        raise UnavailableError(f"there is no npm to fetch {package} with (Debian: apt-get install npm)")
    _folder().mkdir(parents=True, exist_ok=True)
    with _locked(_folder() / "lock"), tempfile.TemporaryDirectory(dir=_folder()) as scratch:
        if not root.exists():
            _run(
                ["npm", "install", "--no-audit", "--no-fund", "--prefix", scratch, f"{package}@{version}"],
                Path(scratch),
            )
            Path(scratch).rename(root)
            Path(scratch).mkdir()
    return root


def _wheels(name: str, packages: Sequence[str]) -> Path:
    """Return a folder with Python packages that no process of ours imports. Raises UnavailableError."""
    root = _folder() / "+".join((name, *packages))
    _folder().mkdir(parents=True, exist_ok=True)
    with _locked(_folder() / "lock"), tempfile.TemporaryDirectory(dir=_folder()) as scratch:
        if not root.exists():
            target = Path(scratch) / "site"
            install = ["install", "--quiet", "--only-binary", ":all:", "--target", str(target)]
            _run([sys.executable, "-m", "uv", "pip", *install, "--python", sys.executable, *packages], Path(scratch))
            target.rename(root)
    return root


def _folder() -> Path:
    return Path(os.environ.get("CONNECT_TEST_PACKAGES") or Path(__file__).parents[1] / ".cache" / "packages")


def unpacked(packages: Sequence[str]) -> Path:
    """Return a folder with Debian packages, and those they need that this machine lacks. Raises UnavailableError."""
    folder = _folder()
    root = folder / "+".join(packages)
    if root.exists():
        return root
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise UnavailableError("there is no apt-get to fetch it with")
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / "lock"), tempfile.TemporaryDirectory(dir=folder) as scratch:
        if not root.exists():
            _unpack(packages, folder / "apt", Path(scratch))
            (Path(scratch) / "root").rename(root)
    return root


def _unpack(packages: Sequence[str], state: Path, scratch: Path) -> None:
    for folder in ("lists/partial", "cache/archives/partial"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    options = [f"-oDir::State::lists={state / 'lists'}", f"-oDir::Cache={state / 'cache'}"]
    # Root's apt-get would download as a user who may not write here.
    options += ["-oDebug::NoLocking=1", "-oAPT::Sandbox::User=root", "-qq"]
    _run(["apt-get", *options, "update"], scratch)
    install = ["apt-get", *options, "install", "--print-uris", "--yes", "--no-install-recommends", *packages]
    # A line each: 'URI' name_version_architecture.deb size checksum; an epoch's colon is escaped.
    files = [line.split()[1].split("_") for line in _run(install, scratch).splitlines() if line.startswith("'")]
    wanted = [f"{name}={version.replace('%3a', ':')}" for name, version, _ in files]
    _run(["apt-get", *options, "download", *(wanted or packages)], scratch)
    for archive in sorted(scratch.glob("*.deb")):
        _run(["dpkg-deb", "-x", str(archive), str(scratch / "root")], scratch)


def _run(command: Sequence[str], folder: Path) -> str:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"{command[0]} did not answer within {_SECONDS:.0f} s") from error
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UnavailableError(f"{command[0]} of {command[-1]} failed: {reason}")
    return done.stdout


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
