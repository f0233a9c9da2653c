"""Run the suites in order and end with the list of what was not run, and why.

``python -m tests.suites [SUITE…] [-- PYTEST OPTION…]``. Exit 1 when a test
fails; when ``CI`` is true, also when something was not run. Each suite ends
with the modules that took the longest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from xml.etree import ElementTree

from tests.programs import Program, azurite, chromium, helm, mariadb_server, prepare
from tests.selection import SUITES

_NOTHING_COLLECTED = 5
_LONG_SECONDS = 60.0
_SPREAD: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("unit", "slow", "simulator"), ("-n", "2")),
        # By the modules and the order of tests/conftest.py.
        **dict.fromkeys(("servers", "browser", "faults"), ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")),
    }
)
"""Name → how its tests are spread over processes; the others run one after the other."""
_PROGRAMS: Mapping[str, tuple[Callable[[], Program], ...]] = MappingProxyType(
    {"slow": (helm,), "servers": (mariadb_server, azurite, chromium), "browser": (chromium,)}
)
"""Name → the programs its tests drive that no Python package has."""


def main(arguments: Sequence[str]) -> int:
    """Run the named suites, all when none is named; return the exit status."""
    names, options = _split(arguments)
    failed, left_out = [], []
    # Else every process would compile the tests, and what they start, again.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        for name in names or SUITES:
            report = Path(folder) / f"{name}.xml"
            for program in _PROGRAMS.get(name, ()):
                print(f"\n{prepare(program)}", flush=True)
            started = time.monotonic()
            print(f"\n===== {name}: pytest -m '{SUITES[name]}'", flush=True)
            command = [sys.executable, "-m", "pytest", "-q", *_SPREAD.get(name, ()), "-m", SUITES[name], *options]
            status = subprocess.run([*command, f"--junitxml={report}"], env=environment, check=False).returncode
            print(f"===== {name}: {time.monotonic() - started:.0f} s", flush=True)
            print("".join(f"{seconds:7.0f} s  {module}\n" for module, seconds in slowest(report)), end="", flush=True)
            if status not in (0, _NOTHING_COLLECTED):
                failed.append(name)
            left_out += [f"{name}: {line}" for line in skipped(report)]
    return conclude(failed, left_out)


def _split(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the suites' names, and what stands behind ``--``."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:at], arguments[at + 1 :]


def skipped(report: Path) -> Iterator[str]:
    """Yield the tests of a JUnit report that were not run, with the reason."""
    if not report.exists():
        yield "no report: pytest did not get to its end"
        return
    for case in ElementTree.parse(report).iter("testcase"):
        for mark in case.iter("skipped"):
            yield f"{case.get('classname')}.{case.get('name')}: {mark.get('message')}"


def slowest(report: Path) -> list[tuple[str, float]]:
    """Return the modules of a JUnit report that took a minute or longer, with their seconds, the longest first."""
    seconds = defaultdict[str, float](float)
    for case in ElementTree.parse(report).iter("testcase") if report.exists() else ():
        # A test in a class has the class behind its module.
        module = ".".join(part for part in case.get("classname", "").split(".") if not part[:1].isupper())
        seconds[module] += float(case.get("time", "0"))
    long = ((module, taken) for module, taken in seconds.items() if taken >= _LONG_SECONDS)
    return sorted(long, key=lambda one: -one[1])


def conclude(failed: Sequence[str], left_out: Sequence[str]) -> int:
    """Tell what failed and what was left out; return the exit status."""
    print("\nNot run: nothing." if not left_out else f"\nNot run ({len(left_out)}):")
    for line in left_out:
        print(f"  {line}")
    if failed:
        print(f"Failed: {', '.join(failed)}.")
    in_ci = os.environ.get("CI", "").lower() in ("1", "true", "yes")
    return 1 if failed or (left_out and in_ci) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
