from __future__ import annotations

import pytest

from connect_core.errors import ConfigError, IndexOutOfBoundsError
from connect_core.transforms.regex_router import RegexRouter
from tests.transforms.single import applied, configured, in_columns, sink


def test_matching_topics_are_renamed() -> None:
    transform = configured(RegexRouter, regex="(?<name>[a-z]+)-raw", replacement="${name}")
    routed = applied(transform, sink(1, topic="orders-raw"), sink(1, topic="other"))
    assert [record.topic for record in routed] == ["orders", "other"]
    assert [record.original_topic for record in routed] == ["orders-raw", "other"]


def test_unknown_group_is_refused() -> None:
    transform = configured(RegexRouter, regex="t", replacement="$1")
    with pytest.raises(IndexOutOfBoundsError, match="No group 1"):
        transform.apply(sink(1))
    assert in_columns(transform, sink(1)) is None


@pytest.mark.parametrize("regex", ["*", "(", "\\"])
def test_invalid_regex_is_refused(regex: str) -> None:
    with pytest.raises(ConfigError, match="Invalid regex"):
        configured(RegexRouter, regex=regex, replacement="x")
