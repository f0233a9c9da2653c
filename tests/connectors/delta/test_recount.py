"""Logs of tables are counted against the decisions on intervals."""

from __future__ import annotations

import pytest

from tests.connectors.delta.lake import Lake
from tests.connectors.lake.recounts import RecountContract, kinds, recount

pytestmark = pytest.mark.slow


class TestRecounts(RecountContract):
    def test_compacted_table_is_no_difference(self, written: Lake) -> None:
        written.table().optimize.compact()
        found = recount(written)
        assert (kinds(found), [one.found for one in found]) == ([], [None] * 3)
        assert all("compacted" in note for one in found for note in one.notes)
