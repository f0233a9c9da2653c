"""Connectors under other makers' names on a local folder that stands for their store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from connect_core.api import SchemaBuilder, SinkRecord, Struct
from connect_core.api.data import STRING_SCHEMA
from connect_core.connectors.filesystem.aliases.connector import AliasSinkConnector
from connect_core.connectors.filesystem.storages import LocalStorage
from tests.connectors.contexts import DriverSide, SinkSide, interval_of, limits_of
from tests.connectors.filesystem.export import Export, numbered

VALUE = SchemaBuilder.struct().field("f1", STRING_SCHEMA).build()


class FolderStorage(LocalStorage):
    """A bucket or cluster that is a folder of its name."""

    @classmethod
    def open(cls, url, config, limits, *, is_at_work=False):  # type: ignore[no-untyped-def]
        return super().open(url.partition("://")[2], config, limits, is_at_work=is_at_work)

    @classmethod
    def locate(cls, url, config, limits):  # type: ignore[no-untyped-def]
        return super().locate(url.partition("://")[2], config, limits)


def structs(count: int, topic: str) -> list[SinkRecord]:
    values = [Struct(VALUE).put("f1", f"value{number}") for number in range(1, count + 1)]
    return numbered(values, topic, value_schema=VALUE)


def errors_of(connector: AliasSinkConnector, config: Mapping[str, str]) -> dict[str, list[str]]:
    return {one.name: one.error_messages for one in connector.validate(config) if one.error_messages}


def exported(
    connector: AliasSinkConnector, config: Mapping[str, str], folder: Path, *intervals: Sequence[SinkRecord]
) -> list[str]:
    """Run a connector over each interval on a folder → the names of all data files, in order."""
    run_intervals(connector, config, folder, *intervals)
    places = (place.relative_to(folder) for place in folder.rglob("*") if place.is_file())
    return sorted(str(place) for place in places if "_connect" not in place.parts and place.name != "_SUCCESS")


def run_intervals(
    connector: AliasSinkConnector, config: Mapping[str, str], folder: Path, *intervals: Sequence[SinkRecord]
) -> None:
    """Validate, start and run a connector over each interval, one task each."""
    assert errors_of(connector, config) == {}
    connector.initialize(DriverSide(limits_of(folder)))
    connector.start(config)
    (settings,) = connector.task_configs(1)
    for sequence, records in enumerate(intervals, 1):
        ranges = Export(folder).interval(records).ranges
        interval = interval_of(*ranges, sequence=sequence, attempt=f"1-{sequence}")
        task = connector.task_class()()
        task.initialize(SinkSide(limits_of(folder), settings, interval))
        task.start(settings)
        task.put(records)
        staged = task.stage({part.topic_partition: part.end for part in interval.ranges})
        task.stop()
        committer = connector.committer(config)
        assert committer is not None
        committer.fence(1)
        committer.publish(interval.key, committer.commit(interval.key, staged))
