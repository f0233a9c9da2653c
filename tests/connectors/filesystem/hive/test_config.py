from __future__ import annotations

import pytest

from connect_core.connectors.filesystem.sink.config import Settings
from connect_core.connectors.filesystem.sink.connector import FileSystemSinkConnector

HIVE = {"path": "out", "hive.integration": "true", "hive.metastore.uris": "thrift://one:9083, thrift://[::1]:9084"}
TIME = {"partitioner": "time", "partition.duration.ms": "3600000"}


def errors_of(**config: str) -> dict[str, list[str]]:
    given = {**HIVE, **{key.replace("__", "."): value for key, value in config.items()}}
    return {one.name: one.error_messages for one in FileSystemSinkConnector().validate(given) if one.error_messages}


def test_settings_are_read() -> None:
    hive = Settings.of(
        {**HIVE, "hive.database": "Lake", "hive.table.name": "raw_${topic}", "partitioner": "hourly"}
    ).hive
    assert hive is not None
    assert hive.addresses == (("one", 9083), ("::1", 9084))
    assert (hive.database, hive.timeout, hive.keys) == ("lake", 60.0, ("year", "month", "day", "hour"))
    assert hive.table_of("Shop.orders-v1") == "raw_shop_orders_v1"
    assert Settings.of({**HIVE, "hive.integration": "false", "format": "raw"}).hive is None


@pytest.mark.parametrize(
    ("config", "keys"),
    [
        ({}, ("partition",)),
        ({"partitioner": "field", "partition.field.name": "Country,city"}, ("country", "city")),
        ({"partitioner": "daily"}, ("year", "month", "day")),
        ({**TIME, "path.format": "'dt'=YYYY-MM-dd/'hour'=HH"}, ("dt", "hour")),
        ({**TIME, "path.format": "'made at'=YYYY"}, None),
        ({**TIME, "path.format": "YYYY/MM/dd"}, None),
        ({**TIME, "path.format": "'year'=YYYY/MM"}, None),
        ({**TIME, "path.format": "'y'YYYY=MM"}, None),
        ({**TIME, "path.format": "'year'="}, None),
        ({**TIME, "path.format": "'d'=dd/'D'=DDD"}, None),
    ],
)
def test_folders_name_columns_or_are_refused(config: dict[str, str], keys: tuple[str, ...] | None) -> None:
    given = {**HIVE, **config}
    if keys is None:
        (found,) = (one for one in FileSystemSinkConnector().validate(given) if one.error_messages)
        assert found.name == "path.format"
        assert config["path.format"] in found.error_messages[0]
    else:
        hive = Settings.of(given).hive
        assert hive is not None
        assert hive.keys == keys


@pytest.mark.parametrize(
    ("config", "key", "message"),
    [
        ({"hive__metastore__uris": ""}, "hive.metastore.uris", "give the metastore"),
        ({"hive__metastore__uris": "http://h:1"}, "hive.metastore.uris", "thrift://host:9083"),
        ({"hive__metastore__uris": "thrift://h"}, "hive.metastore.uris", "thrift://host:9083"),
        ({"hive__metastore__uris": "thrift://h:70000"}, "hive.metastore.uris", "thrift://host:9083"),
        ({"hive__database": "a.b"}, "hive.database", "name a database"),
        ({"hive__table__name": "orders"}, "hive.table.name", "must contain ${topic}"),
        ({"schema__compatibility": "NONE"}, "schema.compatibility", "BACKWARD, FORWARD or FULL"),
        ({"file__name__template": "a/{{topic}}-{{partition}}-{{start_offset}}"}, "file.name.template", "leave it out"),
        ({"format": "raw"}, "format", "parquet, avro, orc, csv, json"),
        (
            {"format": "csv", "partitioner": "field", "partition__field__name": "a"},
            "hive.integration",
            "by position",
        ),
        ({"partitioner": "field", "partition__field__name": "a.b"}, "partition.field.name", "letters, digits"),
        ({"partitioner": "field", "partition__field__name": "a,A"}, "partition.field.name", "capitals are equal"),
    ],
)
def test_what_cannot_be_registered_is_refused(config: dict[str, str], key: str, message: str) -> None:
    found = errors_of(**config)
    assert list(found) == [key]
    assert message in found[key][0]
