"""RegexRouter, TimestampRouter, Filter and the predicates."""

from __future__ import annotations

import pytest

from connect_core.api.batch import Batch
from connect_core.api.headers import Header, Headers
from connect_core.errors import ConfigError, DataError, IndexOutOfBoundsError
from connect_core.transforms.filter import Filter
from connect_core.transforms.predicates.has_header_key import HasHeaderKey
from connect_core.transforms.predicates.record_is_tombstone import RecordIsTombstone
from connect_core.transforms.predicates.topic_name_matches import TopicNameMatches
from connect_core.transforms.regex_router import RegexRouter
from connect_core.transforms.timestamp_router import TimestampRouter
from tests.transforms.single import applied, configured, in_columns, sink


def test_regex_routes_matching_topics():
    transform = configured(RegexRouter, regex="(?<name>[a-z]+)-raw", replacement="${name}")
    routed = applied(transform, sink(1, topic="orders-raw"), sink(1, topic="other"))
    assert [record.topic for record in routed] == ["orders", "other"]
    assert [record.original_topic for record in routed] == ["orders-raw", "other"]


def test_regex_refuses_an_unknown_group():
    transform = configured(RegexRouter, regex="t", replacement="$1")
    with pytest.raises(IndexOutOfBoundsError, match="No group 1"):
        transform.apply(sink(1))
    assert in_columns(transform, sink(1)) is None


@pytest.mark.parametrize("regex", ["*", "(", "\\"])
def test_regex_refuses_bad_expressions(regex):
    with pytest.raises(ConfigError, match="Invalid regex"):
        configured(RegexRouter, regex=regex, replacement="x")


@pytest.mark.parametrize(
    ("pattern", "topics"),
    [("yyyyMMdd", ["t-19691231", "t-20170103"]), ("HH:mm:ss.SSS", ["t-23:59:59.999", "t-06:30:01.864"])],
)
def test_timestamp_routes(pattern, topics):
    transform = configured(TimestampRouter, timestamp_format=pattern)
    routed = applied(transform, sink(1, timestamp=-1), sink(1, timestamp=1_483_425_001_864))
    assert [record.topic for record in routed] == topics


def test_timestamp_is_needed():
    transform = configured(TimestampRouter)
    with pytest.raises(DataError, match="Timestamp missing"):
        transform.apply(sink(1, timestamp=None))
    assert in_columns(transform, sink(1, timestamp=None)) is None


def test_filter_drops_all():
    assert applied(configured(Filter), sink(1), sink(2)) == [None, None]


@pytest.mark.parametrize(
    ("predicate", "settings", "expected"),
    [
        (TopicNameMatches, {"pattern": "or.*"}, [True, False, False]),
        (RecordIsTombstone, {}, [False, True, False]),
        (HasHeaderKey, {"name": "h"}, [False, False, True]),
    ],
)
def test_predicates_in_both_lanes(predicate, settings, expected):
    test = predicate()
    test.configure(settings)
    headers = Headers([Header("h", None, 1)])
    records = [sink(1, topic="orders"), sink(None), sink({"a": 1}, headers=headers)]
    assert [test.test(record) for record in records] == expected
    assert test.test_batch(Batch.from_records(records)).to_pylist() == expected
    columns = [sink({"a": 1}), sink(None)]
    assert test.test_batch(Batch.from_records(columns)).to_pylist() == [test.test(record) for record in columns]
