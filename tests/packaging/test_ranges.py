"""The lower ends of the wheel's ranges can be installed together; `make lowest` runs the tests there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.packaging.environments import ROOT, run
from tests.packaging.lowest import UV

pytestmark = pytest.mark.slow


def test_lowest_versions_go_together(tmp_path: Path) -> None:
    options = ("--quiet", "--resolution", "lowest-direct", "--extra", "dev-stack")
    found = run(tmp_path, UV, "pip", "compile", *options, ROOT / "pyproject.toml")
    assert "\napache-airflow-core==3.1." in found
    assert "\nsqlalchemy==2.1.0\n" in found
