from __future__ import annotations

from connect_core.transforms.predicates.has_header_key import HasHeaderKey
from tests.transforms.predicates.both_lanes import evaluated


def test_records_and_batches_agree() -> None:
    assert evaluated(HasHeaderKey(), {"name": "h"}) == [False, False, True]
