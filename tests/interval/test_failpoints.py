"""Fail points do nothing unless armed; armed, one process acts, once; each is in a fault test."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from connect_core.errors import RetriableError
from connect_core.interval import effects as fx
from connect_core.interval.failpoints import FAIL_POINTS, FILE, POINT_OF, TESTING, pass_effect, reach
from tests.faults.rows import failpoints as rows

CODE = Path(__file__).parents[2] / "connect_core"


@pytest.fixture
def armed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(TESTING, "1")
    monkeypatch.setenv(FILE, str(tmp_path / "armed"))
    return tmp_path / "armed"


def test_unarmed_points_do_nothing(armed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reach("K4", "c")
    armed.write_text("K4 c raise")
    monkeypatch.delenv(TESTING)
    reach("K4", "c")
    assert armed.exists()


def test_an_armed_point_is_hit_once_by_its_connector(armed: Path) -> None:
    armed.write_text("K4 c raise")
    reach("K4", "other")
    reach("K5", "c")
    with pytest.raises(RetriableError, match="a test makes c fail at K4"):
        reach("K4", "c")
    assert not armed.exists()
    reach("K4", "c")


def test_kill_is_a_sigkill_of_the_process(armed: Path) -> None:
    armed.write_text("K6 c kill")
    code = "from connect_core.interval.failpoints import reach; reach('K6', 'c'); print('alive')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (-9, "")


def test_effects_reach_the_point_before_them(armed: Path) -> None:
    for effect, point in (
        (fx.LoadUnfinished("c"), "K0"),
        (fx.CommitGroupOffsets("connect-c", {}), "K8"),
        (fx.ReleaseLease("c", "me"), "K9"),
    ):
        armed.write_text(f"{point} c raise")
        with pytest.raises(RetriableError, match=f"c fail at {point}"):
            pass_effect(effect)


def test_every_point_is_in_the_code() -> None:
    reached = {"K0", *POINT_OF.values()}
    for file in CODE.rglob("*.py"):
        reached |= set(re.findall(r'\breach\("(K\d+)"', file.read_text()))
    assert reached == set(FAIL_POINTS) == {f"K{number}" for number in range(11)}


def test_every_point_is_in_a_fault_test() -> None:
    killed = {point for points in rows.KILLED.values() for point in points}
    assert killed == set(FAIL_POINTS)
    assert {row.number for row in rows.ROWS} == {rows.FIRST_ROW + int(point[1:]) for point in FAIL_POINTS}
