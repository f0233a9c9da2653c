"""Snapshots of tables are counted against the decisions on intervals."""

from __future__ import annotations

import pytest

from connect_core.connectors.iceberg.committer import IcebergCommitter
from tests.connectors.iceberg.lake import Lake
from tests.connectors.lake.recounts import RecountContract, kinds, recount

pytestmark = pytest.mark.slow


class TestRecounts(RecountContract):
    def test_table_that_was_made_anew(self, written: Lake) -> None:
        schema = written.table().schema()
        written.catalog.drop_table("db.orders")
        written.catalog.create_table("db.orders", schema)
        found = recount(written)
        assert kinds(found) == []
        assert [one.found for one in found] == [None] * 3
        assert all("recreated" in note for one in found for note in one.notes)

    def test_expired_snapshots_are_no_difference(self, written: Lake) -> None:
        table = written.table()
        first = table.metadata.snapshots[0].snapshot_id
        table.maintenance.expire_snapshots().by_id(first).commit()
        found = recount(written)
        assert (kinds(found), [one.found for one in found]) == ([], [3, 1, None])
        assert any("expired" in note for note in found[2].notes)


def test_connector_that_has_not_run_has_nothing_to_recount(lake: Lake) -> None:
    committer = lake.connector().committer(lake.config)
    assert isinstance(committer, IcebergCommitter)
    assert list(committer.recount(0, lake.key())) == []
