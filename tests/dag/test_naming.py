"""The DAG id of a connector."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.dag.naming import dag_id_of


@pytest.mark.parametrize("name", ["local-file-source", "a b/c", "ÄÖÜ", "..", "x" * 300, "-", "{{ 7 * 7 }}", "a\nb"])
def test_dag_id_is_one_airflow_takes(name: str) -> None:
    dag_id = dag_id_of(name)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,250}", dag_id)


def test_dag_id_begins_with_the_readable_name() -> None:
    assert dag_id_of("local-file-source").startswith("local-file-source-")


@given(st.text(min_size=1), st.text(min_size=1))
def test_dag_id_differs_for_different_names(one: str, other: str) -> None:
    assert (dag_id_of(one) == dag_id_of(other)) == (one == other)


def test_dag_id_never_changes() -> None:
    assert dag_id_of("my sink/äöü") == "my-sink-0439e6046bfc2ba6"


def test_names_with_one_slug_differ_by_at_least_64_bits() -> None:
    ids = [dag_id_of(name) for name in ("a b", "a/b", "a.b", "a-b")]
    assert {re.fullmatch(r"a-b-([0-9a-f]{16,})", dag_id) is not None for dag_id in ids} == {True}
    assert len(set(ids)) == 4
