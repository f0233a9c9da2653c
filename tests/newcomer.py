"""The test command on a machine that has Python, Java and make only, in a short form.

``python -m tests.newcomer``. MariaDB, Chromium and Maven are hidden from
``PATH``. Once Debian's packages may be fetched: every test runs. Once they may
not: what needs them is listed, the rest passes, and only CI calls that a
failure.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_HIDDEN = ("mariadb", "mysql", "chromium", "chrome", "mvn")
_TESTS = (
    "tests/connectors/jdbc/test_sink.py::test_updates_only_rows_that_exist",
    "tests/browser/test_list.py::test_empty_list_says_what_to_do",
)


def main() -> int:
    """Run both forms, and the second as CI does; return the exit status."""
    without_packages = (*_HIDDEN, "apt-get")
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor() as side_by_side:
        first = side_by_side.submit(_suites, Path(scratch) / "fetched", hidden=_HIDDEN, in_ci="true")
        second = side_by_side.submit(_suites, Path(scratch) / "left-out", hidden=without_packages, in_ci="")
        third = side_by_side.submit(_suites, Path(scratch) / "refused", hidden=without_packages, in_ci="true")
        fetched, left_out, refused = first.result(), second.result(), third.result()
    good = (
        _check(fetched.returncode == 0 and "Not run: nothing." in fetched.stdout, "packages unpacked: all tests ran"),
        _check(left_out.returncode == 0 and "Not run (" in left_out.stdout, "no packages: green, with the list"),
        _check(refused.returncode == 1 and "Not run (" in refused.stdout, "no packages in CI: the list is a failure"),
    )
    if not all(good):
        print(*(run.stdout + run.stderr for run in (fetched, left_out, refused)), sep="\n")
    return 0 if all(good) else 1


def _suites(folder: Path, hidden: tuple[str, ...], in_ci: str) -> subprocess.CompletedProcess[str]:
    path = _path_without(folder / "bin", hidden)
    environment = {**os.environ, "PATH": str(path), "CI": in_ci, "CONNECT_TEST_PACKAGES": str(folder / "packages")}
    command = [sys.executable, "-m", "tests.suites", "servers", "browser", "--", "-n0", *_TESTS]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def _path_without(folder: Path, hidden: tuple[str, ...]) -> Path:
    """Fill a folder with links to every command of PATH but the hidden ones."""
    folder.mkdir(parents=True)
    for place in os.environ["PATH"].split(os.pathsep):
        for command in sorted(Path(place).iterdir()) if Path(place).is_dir() else ():
            link = folder / command.name
            if not command.name.startswith(hidden) and not link.exists() and not link.is_symlink():
                link.symlink_to(command)
    return folder


def _check(holds: bool, what: str) -> bool:
    print(f"{'ok    ' if holds else 'FAILED'}  {what}", flush=True)
    return holds


if __name__ == "__main__":
    sys.exit(main())
