from importlib.metadata import Distribution, PathDistribution
from pathlib import Path
from types import SimpleNamespace

import pytest

from connect_core.dev.checks import Check, check_java, check_pyspark, check_secret_key, different_files
from connect_core.dev.probes import check_airflow, check_brokers, check_database, check_spark


def _distribution(folder: Path, record: str) -> Distribution:
    folder.mkdir()
    (folder / "RECORD").write_text(record)
    return PathDistribution(folder)


def test_pyspark_of_this_environment_is_no_mix() -> None:
    assert check_pyspark({}).is_ok


def test_pyspark_files_that_differ_are_named(tmp_path: Path) -> None:
    whole = _distribution(tmp_path / "a.dist-info", "pyspark/a.py,sha256=one,1\npyspark/b.py,sha256=two,1\n")
    client = _distribution(tmp_path / "b.dist-info", "pyspark/a.py,sha256=one,1\npyspark/b.py,sha256=three,1\nc.py,,\n")
    assert different_files(whole, client) == ["pyspark/b.py"]


def test_java_missing_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    finding = check_java({})
    assert finding.is_ok is False
    assert finding.remedy.startswith("Install Java 17")


def test_secret_key_that_others_can_read_fails(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("key")
    file.chmod(0o644)
    finding = check_secret_key({"CONNECT_SECRET_KEY_FILE": str(file)})
    assert (finding.is_ok, finding.remedy) == (False, f"chmod 600 {file}")


@pytest.mark.parametrize(
    ("owner", "mode", "is_ok"),
    [(0, 0o440, True), (0, 0o444, False), (0, 0o460, False), (7, 0o440, False), (7, 0o400, True)],
)
def test_secret_key_of_root_may_be_its_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: int, mode: int, is_ok: bool
) -> None:
    """Kubernetes gives a Secret's files to root and to the group of the pod."""
    file = tmp_path / "key"
    file.write_text("key")
    monkeypatch.setattr(Path, "stat", lambda _: SimpleNamespace(st_mode=0o100000 | mode, st_uid=owner))
    assert check_secret_key({"CONNECT_SECRET_KEY_FILE": str(file)}).is_ok is is_ok


@pytest.mark.parametrize("check", [check_brokers, check_database, check_airflow, check_spark])
def test_server_that_is_not_named_is_skipped(check: Check) -> None:
    assert check({}).is_ok is None


def test_metadata_database_of_another_dialect_fails_with_the_remedy() -> None:
    finding = check_database({"CONNECT_DATABASE_URL": "mysql+pymysql://me:secret@127.0.0.1:1/airflow"})
    assert finding.is_ok is False
    assert finding.detail.startswith("database.url mysql+pymysql://me:***@127.0.0.1:1/airflow is of the dialect mysql")
    assert finding.remedy.startswith("Write postgresql+psycopg://")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "environment"),
    [
        (check_brokers, {"CONNECT_BOOTSTRAP_SERVERS": "127.0.0.1:1"}),
        (check_database, {"CONNECT_DATABASE_URL": "postgresql+psycopg://me:secret@127.0.0.1:1/connect"}),
        (check_airflow, {"CONNECT_AIRFLOW_URL": "http://127.0.0.1:1"}),
        (check_spark, {"CONNECT_SPARK_REMOTE": "sc://localhost:1/;token=secret"}),
    ],
)
def test_server_that_does_not_answer_fails_with_a_remedy(check: Check, environment: dict[str, str]) -> None:
    finding = check(environment)
    assert finding.is_ok is False
    assert "connect dev up" in finding.remedy
    assert "secret" not in finding.detail
