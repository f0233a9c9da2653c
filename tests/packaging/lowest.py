"""Run the quick tests on the lowest versions that the wheel declares: ``python -m tests.packaging.lowest [AIRFLOW]``.

AIRFLOW is another version of Airflow than the lowest, such as 3.2.0. The tools of the tests are as pinned.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["UV", "main"]

_ROOT = Path(__file__).parents[2]
_OPTIONAL = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
UV = Path(sys.executable).with_name("uv")
_OF_AIRFLOW = ("pyjwt>=2.10,<2.11",)
"""Airflow 3.1 does not declare it: newer ones refuse its tokens."""
_RANGES = "tests/packaging/test_ranges.py"
"""Asks uv, which is in no such environment."""
_TESTS = ("-m", "not servers and not browser and not faults and not simulator", "-n", "2")


def main(arguments: Sequence[str]) -> int:
    """Install and test; return the exit status."""
    airflow = arguments[0] if arguments else ""
    home = _ROOT / ".cache" / "matrix" / f"lowest{airflow}"
    python = home / "bin" / "python"
    subprocess.run([UV, "venv", "--quiet", "--allow-existing", "--python", sys.executable, home], check=True)
    wanted = [f"apache-airflow=={airflow}"] if airflow else []
    install: list[str | Path] = [
        UV,
        "pip",
        "install",
        "--quiet",
        "--python",
        str(python),
        "--resolution",
        "lowest-direct",
    ]
    subprocess.run([*install, "-e", f"{_ROOT}[{_extras()}]", *wanted, *_OF_AIRFLOW, *_tools()], check=True, cwd=_ROOT)
    return subprocess.run(
        [python, "-m", "pytest", "-q", *_TESTS, f"--ignore={_RANGES}"], check=False, cwd=_ROOT
    ).returncode


def _extras() -> str:
    return ",".join(sorted(_OPTIONAL.keys() - {"dev"}))


def _tools() -> Iterator[str]:
    """Yield the pins of what ``dev`` adds to the other extras."""
    lines = (_ROOT / "config" / "constraints.txt").read_text().split()
    pins = {line.partition("==")[0]: line for line in lines}
    names = (_name(line) for line in _OPTIONAL["dev"])
    yield from (pins[name] for name in names if name in pins)


def _name(requirement: str) -> str:
    return re.split(r"[\[<>=!~ ]", requirement, maxsplit=1)[0].lower()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
