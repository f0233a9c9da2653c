"""Look the pinned packages up among known vulnerabilities: ``python -m tests.audit``, as ``make audit`` does.

Exit 1 when one of them has a vulnerability that is not in ``ACCEPTED``. What
the registry has no data about is counted, not refused.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

__all__ = ["ACCEPTED", "judged", "main"]

PINS = Path(__file__).parents[1] / "config" / "constraints.txt"
ACCEPTED: Mapping[str, str] = MappingProxyType({})
"""Id of a vulnerability → why it does not concern this project."""
_SECONDS = 600


def main() -> int:
    """Ask the registry; return the exit status."""
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps", "--requirement", str(PINS)]
    options = ["--format", "json", "--progress-spinner", "off"]
    try:
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=False, timeout=_SECONDS)
        report = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError) as error:
        print(f"The pins could not be audited, the registry did not answer: {error}")
        return 0
    lines, status = judged(report["dependencies"])
    print("\n".join(lines))
    return status


def judged(packages: Sequence[Mapping[str, Any]], accepted: Mapping[str, str] = ACCEPTED) -> tuple[list[str], int]:
    """Return what is to be said of pip-audit's packages, and the exit status."""
    unknown = [one["name"] for one in packages if "skip_reason" in one]
    found = [
        f"{one['name']} {one['version']}: {flaw['id']}, corrected in {', '.join(flaw['fix_versions']) or 'no version'}"
        for one in packages
        for flaw in one.get("vulns", ())
        if not {flaw["id"], *flaw.get("aliases", ())} & set(accepted)
    ]
    counted = f"{len(packages) - len(unknown)} pins audited, {len(found)} vulnerabilities"
    missing = [f"{len(unknown)} the registry has no data about"] if unknown else []
    return [*found, "; ".join([counted, *missing])], 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
