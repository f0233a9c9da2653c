from __future__ import annotations

from connect_core.transforms.predicates.topic_name_matches import TopicNameMatches
from tests.transforms.predicates.both_lanes import evaluated


def test_records_and_batches_agree() -> None:
    assert evaluated(TopicNameMatches(), {"pattern": "or.*"}) == [True, False, False]
