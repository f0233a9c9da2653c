"""An installed wheel is enough: the quickstart runs in an empty folder, with nothing of the clone.

Everything starts, live data moves, everything ends; in `make matrix`, as it installs gigabytes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from connect_core.dev.processes import marked
from tests.integration.test_quickstart import check_files, check_registry, check_shop
from tests.packaging.environments import ROOT, build_wheel, create, run

pytestmark = [pytest.mark.servers, pytest.mark.matrix, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The commands of an environment with the wheel and its embedded stack; gigabytes, so not kept."""
    folder = tmp_path_factory.mktemp("wheel")
    yield create(folder, build_wheel(folder), "[dev-stack]", "--constraints", ROOT / "config" / "constraints.txt")
    shutil.rmtree(folder)


@pytest.fixture
def empty(commands: Path, tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "empty"
    folder.mkdir()
    yield folder
    run(folder, commands / "connect", "dev", "down")


def test_quickstart_runs_without_the_clone(commands: Path, empty: Path) -> None:
    place = run(empty, commands / "python", "-c", "import connect_core; print(connect_core.__file__)")
    assert Path(place).is_relative_to(commands.parent)
    told = run(empty, commands / "connect", "quickstart", "--registry")
    check_files(told)
    check_shop(told)
    check_registry(told)
    assert "Airflow       http://127.0.0.1:" in told
    assert "Done in" in told
    checked = run(empty, commands / "connect", "doctor")
    assert "with the Connect plugin" in checked, checked
    assert [one.name for one in empty.iterdir()] == [".connect"]
    assert str(ROOT) not in (empty / ".connect" / "env").read_text()
    run(empty, commands / "connect", "dev", "down")
    assert marked(empty / ".connect") == set()
