"""Groups of topics that a source's records create."""

from __future__ import annotations

import pytest

from connect_core.configs.topic_creation import group_of_topic, topic_creation_groups
from connect_core.errors import ConfigError

PREFIX = "topic.creation."
DEFAULT = {f"{PREFIX}default.replication.factor": "3", f"{PREFIX}default.partitions": "5"}
COMPACTED = {
    f"{PREFIX}groups": "compacted, plain, default",
    f"{PREFIX}compacted.include": "ref-.*,dim-.*",
    f"{PREFIX}compacted.exclude": "ref-tmp.*",
    f"{PREFIX}compacted.partitions": "1",
    f"{PREFIX}compacted.cleanup.policy": "compact",
    f"{PREFIX}plain.include": ".*-tmp",
}


def test_no_setting_leaves_it_to_the_broker() -> None:
    assert topic_creation_groups({}) == ()


def test_groups_are_tried_in_order() -> None:
    groups = topic_creation_groups(DEFAULT | COMPACTED)
    assert [group.name for group in groups] == ["compacted", "plain", "default"]
    found = {topic: group_of_topic(groups, topic) for topic in ("ref-a", "ref-tmp", "x-tmp", "other", "xref-a")}
    assert {topic: group and group.name for topic, group in found.items()} == {
        "ref-a": "compacted",
        "ref-tmp": "plain",
        "x-tmp": "plain",
        "other": "default",
        "xref-a": "default",
    }


def test_group_follows_the_default_group() -> None:
    compacted, plain, default = topic_creation_groups(DEFAULT | COMPACTED)
    assert (compacted.replication_factor, compacted.partitions) == (3, 1)
    assert compacted.settings == {"cleanup.policy": "compact"}
    assert (plain.replication_factor, plain.partitions) == (3, 5)
    assert default.settings == {}


def test_patterns_of_the_default_group_do_not_count() -> None:
    groups = topic_creation_groups(DEFAULT | {f"{PREFIX}default.exclude": ".*"})
    assert group_of_topic(groups, "any") == groups[0]


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({f"{PREFIX}default.partitions": "0"}, "Number of partitions must be positive"),
        ({f"{PREFIX}default.replication.factor": "-2"}, "Replication factor must be positive"),
        ({f"{PREFIX}groups": "g", f"{PREFIX}g.include": "("}, "Syntax error in regular expression: Unclosed group"),
    ],
)
def test_bad_group_is_refused(more: dict[str, str], error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        topic_creation_groups(DEFAULT | more)


def test_default_group_is_required() -> None:
    with pytest.raises(ConfigError, match=r'Missing required configuration "topic\.creation\.default\.'):
        topic_creation_groups({f"{PREFIX}groups": ""})
