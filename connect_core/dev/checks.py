"""Checks of the installation for ``connect doctor``: Java, packages and the secret key."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version
from pathlib import Path

from connect_core.dev.java import find_java, java_version
from connect_core.errors import ConnectError

__all__ = [
    "INSTALLATION_CHECKS",
    "Check",
    "Finding",
    "check_java",
    "check_pandas",
    "check_pyspark",
    "check_secret_key",
    "different_files",
    "fail",
    "passed",
    "skip",
]


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check.

    ``is_ok`` is None when there is nothing to check, such as a server that
    the environment does not name. ``remedy`` tells how to fix a failure.
    """

    subject: str
    is_ok: bool | None
    detail: str
    remedy: str = ""


Check = Callable[[Mapping[str, str]], Finding]
"""A check is passed the environment in force and returns its finding."""


def passed(subject: str, detail: str) -> Finding:
    """Return the finding of a check that passed."""
    return Finding(subject, True, detail)


def fail(subject: str, detail: str, remedy: str) -> Finding:
    """Return the finding of a check that failed, with its remedy."""
    return Finding(subject, False, detail, remedy)


def skip(subject: str, detail: str) -> Finding:
    """Return the finding of a check that was skipped, with the reason."""
    return Finding(subject, None, detail)


def check_java(environment: Mapping[str, str]) -> Finding:
    """Check for a Java that is new enough for Kafka and Spark."""
    try:
        java = find_java()
    except ConnectError as error:
        detail, _, remedy = str(error).partition(". ")
        return fail("Java", detail, remedy or detail)
    return passed("Java", f"{java_version(java)} ({java})")


def check_pyspark(environment: Mapping[str, str]) -> Finding:
    """Check that pyspark and pyspark-client, which share their files, are of one version and not mixed."""
    remedy = "Install pyspark and pyspark-client of the same version, both again, in one command."
    try:
        whole, client = distribution("pyspark"), distribution("pyspark-client")
    except PackageNotFoundError as error:
        return fail("pyspark", f"{error.name} is not installed", remedy)
    if whole.version != client.version:
        return fail("pyspark", f"pyspark is {whole.version}, pyspark-client {client.version}", remedy)
    mixed = different_files(whole, client)
    if mixed:
        return fail(
            "pyspark", f"{len(mixed)} files differ between pyspark and pyspark-client, such as {mixed[0]}", remedy
        )
    return passed("pyspark", f"{whole.version}, the same as pyspark-client")


def different_files(one: Distribution, other: Distribution) -> list[str]:
    """Return the files that both distributions own, with different recorded hashes."""
    first, second = _hashes(one), _hashes(other)
    return sorted(name for name in first.keys() & second.keys() if first[name] != second[name])


def _hashes(found: Distribution) -> dict[str, str]:
    return {str(file): file.hash.value for file in found.files or () if file.hash is not None}


def check_pandas(environment: Mapping[str, str]) -> Finding:
    """Check for a version of pandas that Spark 4.2 supports."""
    try:
        found = version("pandas")
    except PackageNotFoundError:
        return fail("pandas", "not installed", "Install 'connect-core[spark]'.")
    if int(found.split(".")[0]) >= 3:
        return fail("pandas", f"{found} is too new for Spark", "Install 'pandas>=2.2,<3'.")
    return passed("pandas", found)


def check_secret_key(environment: Mapping[str, str]) -> Finding:
    """Check that the key file, if one is named, is readable by its owner only, or root's by the group, too.

    The same rule as PostgreSQL's for ``ssl_key_file``: Kubernetes gives the files of a
    Secret to root and to the pod's group.
    """
    name = environment.get("CONNECT_SECRET_KEY_FILE")
    if not name:
        return skip("secret key", "CONNECT_SECRET_KEY_FILE is not set: literal passwords are refused")
    file = Path(name)
    if not os.access(file, os.R_OK):
        return fail("secret key", f"{file} cannot be read", "Correct CONNECT_SECRET_KEY_FILE, or restore the file.")
    found = file.stat()
    if found.st_mode & (0o037 if found.st_uid == 0 else 0o077):
        return fail("secret key", f"{file} can be read by others", f"chmod 600 {file}")
    return passed("secret key", str(file))


INSTALLATION_CHECKS: tuple[Check, ...] = (check_java, check_pyspark, check_pandas, check_secret_key)
