"""Which files are merged: property tests of the groups, and bad settings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from connect_core.api.config import AbstractConfig, ConfigDef
from connect_core.connectors.lake.compaction import Compaction, compaction_of, with_compaction
from connect_core.errors import ConfigError

TARGET = 1000
FILES = some.lists(some.tuples(some.sampled_from("abc"), some.integers(0, 2 * TARGET)))


@given(FILES, some.integers(2, 6))
def test_groups_are_small_files_of_one_partition_within_the_target(files: list[tuple[str, int]], least: int) -> None:
    compaction = Compaction(least, TARGET)
    numbered = [(partition, size, number) for number, (partition, size) in enumerate(files)]
    groups = compaction.groups(numbered)
    grouped = [number for group in groups for number in group]
    assert len(set(grouped)) == len(grouped)
    small = [partition for partition, size in files if size * 2 < TARGET]
    for group in groups:
        assert len(group) >= 2
        assert sum(files[number][1] for number in group) <= TARGET
        (partition,) = {files[number][0] for number in group}
        assert small.count(partition) >= least
        assert group == sorted(group)
    for partition in "abc":
        if small.count(partition) < least:
            assert not any(files[number][0] == partition for number in grouped)


@given(some.integers(2, 100))
def test_merging_ends(count: int) -> None:
    """Merged files are merged again until few are small, and then no more."""
    compaction, sizes = Compaction(2, TARGET), [100] * count
    for _ in range(count):
        groups = compaction.groups([("", size, number) for number, size in enumerate(sizes)])
        if not groups:
            break
        merged = {number for group in groups for number in group}
        rest = [size for number, size in enumerate(sizes) if number not in merged]
        sizes = rest + [sum(sizes[number] for number in group) for group in groups]
    else:
        pytest.fail(f"still merging {sizes}")
    assert sum(sizes) == 100 * count
    assert sum(size * 2 < TARGET for size in sizes) <= 1


def test_a_run_merges_no_more_than_its_share() -> None:
    size = 200 * 1024 * 1024
    groups = Compaction(2, 512 * 1024 * 1024).groups([("", size, number) for number in range(100)])
    assert 0 < sum(len(group) for group in groups) * size <= 2 * 1024**3


def test_a_group_larger_than_a_runs_share_is_merged_all_the_same() -> None:
    size = 900 * 1024 * 1024
    groups = Compaction(2, 4 * 1024**3).groups([("", size, number) for number in range(12)])
    assert groups == [[0, 1, 2, 3]]


def parsed(**config: str) -> AbstractConfig:
    return AbstractConfig(with_compaction(ConfigDef()), {key.replace("_", "."): text for key, text in config.items()})


def test_by_default_nothing_is_merged() -> None:
    assert compaction_of(parsed()) is None
    assert compaction_of(parsed(compaction_min_files="20")) == Compaction(20, 128 * 1024 * 1024)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"compaction_min_files": "1"}, "one file has nothing to be merged with"),
        ({"compaction_min_files": "-1"}, "compaction.min.files"),
        ({"compaction_min_files": "5", "compaction_target_bytes": "10"}, "compaction.target.bytes"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, str], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        compaction_of(parsed(**settings))
