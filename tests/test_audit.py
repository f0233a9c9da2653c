"""The look at known vulnerabilities of the pins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.audit import judged

ROOT = Path(__file__).parents[1]
FLAW = {"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["1.1"]}
BAD: dict[str, Any] = {"name": "bad", "version": "1.0", "vulns": [FLAW]}
GOOD: dict[str, Any] = {"name": "good", "version": "1.0", "vulns": []}
UNKNOWN: dict[str, Any] = {"name": "unknown", "skip_reason": "not found"}


def test_vulnerability_fails_the_build() -> None:
    lines, status = judged([BAD, GOOD, UNKNOWN])
    assert status == 1
    assert lines == [
        "bad 1.0: PYSEC-1, corrected in 1.1",
        "2 pins audited, 1 vulnerabilities; 1 the registry has no data about",
    ]


def test_accepted_vulnerability_and_missing_data_do_not() -> None:
    assert judged([BAD], {"CVE-1": "never called"}) == (["1 pins audited, 0 vulnerabilities"], 0)
    assert judged([UNKNOWN])[1] == 0


def test_ci_audits_the_pins() -> None:
    assert "make audit" in (ROOT / ".ci" / "run").read_text().splitlines()
    assert "tests.audit" in (ROOT / "Makefile").read_text()
