"""Settings: those of Apache's sink are read, mapped, or named; none is silently ignored."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from connect_core.connectors.iceberg.catalog_properties import catalog_properties
from connect_core.connectors.iceberg.config import Settings
from connect_core.connectors.iceberg.partition_texts import partition_texts
from connect_core.connectors.iceberg.sink import IcebergSinkConnector
from connect_core.errors import ConfigError
from tests.connectors.contexts import limits_of
from tests.connectors.iceberg.lake import CONFIG, Lake, numbered

PEER = Path(__file__).parents[2] / "peer" / "iceberg" / "sink.json"


@pytest.mark.parametrize(
    ("text", "transforms"),
    [
        ("", []),
        ("country", ["country identity country"]),
        ("days(at), bucket(id,16)", ["at day at_day", "id bucket[16] id_bucket"]),
        ("truncate(name, 3),hour(at) , bucket[4](id)",
         ["name truncate[3] name_trunc", "at hour at_hour", "id bucket[4] id_bucket"]),
        ("a b, year(ä.ö)", ["a b identity a b", "ä.ö year ä.ö_year"]),
    ],
)  # fmt: skip
def test_partitions_are_read_as_apache_writes_them(text: str, transforms: Any) -> None:
    assert [f"{one.column} {one.transform} {one.name}" for one in partition_texts(text)] == transforms


@pytest.mark.parametrize(
    "text", ["bucket(id)", "bucket(id, 0)", "day(at, 2)", "void(x)", "a,,b", "day(at", "bucket(id, -1)"]
)
def test_a_partition_that_is_none_is_refused_by_validate(text: str) -> None:
    values = IcebergSinkConnector().validate({**CONFIG, "iceberg.tables.default-partition-by": text})
    errors = {value.name: value.error_messages for value in values if value.error_messages}
    assert list(errors) == ["iceberg.tables.default-partition-by"]


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"iceberg.tables": ""}, "iceberg.tables"),
        ({"table.name.format": "db.${topic}"}, "table.name.format"),
        ({"iceberg.tables": "../../x"}, "iceberg.tables"),
        ({"iceberg.tables.dynamic-enabled": "true"}, "iceberg.tables.dynamic-enabled"),
        ({"iceberg.tables.route-field": "to"}, "iceberg.tables.route-field"),
    ],
)
def test_settings_that_contradict_are_refused_by_name(changes: dict[str, str], key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        Settings.of({**CONFIG, **changes})


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"type": "jdbc", "uri": "jdbc:postgresql://localhost/x", "jdbc.user": "me", "jdbc.password": "p@:/ß"},
         {"type": "sql", "uri": "postgresql+psycopg://me:p%40%3A%2F%C3%9F@localhost/x"}),
        ({"catalog-impl": "org.apache.iceberg.rest.RESTCatalog", "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
          "uri": "http://localhost:1", "warehouse": "s3://b/w", "s3.path-style-access": "true"},
         {"type": "rest", "uri": "http://localhost:1", "warehouse": "s3://b/w",
          "s3.force-virtual-addressing": "false"}),
        ({"type": "rest", "uri": "http://localhost", "gcs.service.host": "http://localhost:1", "gcs.oauth2.token": "x"},
         {"type": "rest", "uri": "http://localhost", "gcs.service.host": "http://localhost:1",
          "gcs.oauth2.token": "x"}),
    ],
)  # fmt: skip
def test_properties_of_apaches_catalogs_are_mapped(
    tmp_path: Path, given: dict[str, str], found: dict[str, str]
) -> None:
    properties = catalog_properties({"warehouse": "w", **given}, limits_of(tmp_path))
    assert {key: properties[key] for key in properties if key != "warehouse" or key in found} == found


@pytest.mark.parametrize(
    "given",
    [
        {"type": "hadoop"},
        {"type": "sql", "uri": "sqlite:////etc/catalog.db"},
        {"type": "sql", "uri": "sqlite:///c.db", "warehouse": "/etc"},
        {"type": "sql", "uri": "sqlite:///c.db", "warehouse": "file:///etc/../etc"},
        {"type": "sql", "uri": "oracle://h/d"},
        {"type": "rest", "uri": "http://169.254.169.254/"},
        {"type": "rest", "uri": "http://localhost", "s3.endpoint": "169.254.169.254:80"},
        {"type": "rest", "uri": "http://localhost", "adls.account-host": "169.254.169.254"},
        {
            "type": "rest",
            "uri": "http://localhost",
            "adls.connection-string": "AccountName=a;BlobEndpoint=http://169.254.169.254/a;AccountKey=eA==",
        },
        {"type": "rest", "uri": "http://localhost", "s3.retry-strategy-impl": "os.system"},
        {"type": "rest", "uri": "http://localhost", "adls.account-host": "blob.example.com"},
        {"type": "rest", "uri": "http://localhost", "gcs.service.host": "https://storage.example.com"},
        {"type": "sql", "uri": "postgresql://169.254.169.254/x"},
        {"type": "sql", "uri": "postgresql://localhost/x?host=169.254.169.254"},
        {"type": "sql", "uri": "postgresql://localhost/x?hostaddr=169.254.169.254"},
        {"type": "sql", "uri": "postgresql://localhost,169.254.169.254/x"},
        {"type": "sql", "uri": "postgresql:///x"},
        {"type": "sql", "uri": "postgresql://localhost/x?passfile=/root/.pgpass"},
        {"type": "sql", "uri": "postgresql://localhost/x?service=worker"},
        {"type": "sql", "uri": "jdbc:mysql://localhost/x?read_default_file=/etc/my.cnf"},
        {"type": "sql", "uri": "mysql://localhost/x?unix_socket=/run/mysqld.sock"},
        {"type": "rest", "uri": "http://localhost", "py-io-impl": "os.system"},
        {"type": "rest", "uri": "http://localhost", "py-catalog-impl": "evil.Catalog"},
        {"type": "rest", "uri": "http://localhost", "s3.endpoint": "http://169.254.169.254"},
        {"catalog-impl": "com.example.Catalog"},
    ],
)
def test_places_and_classes_the_worker_does_not_allow_are_refused(tmp_path: Path, given: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        catalog_properties({"warehouse": "w", **given}, limits_of(tmp_path))


def test_a_table_outside_the_allowed_folders_is_not_written(
    lake: Lake, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    lake.run(numbered([{"a": 1}]))
    lake.catalog.create_table("db.out", lake.table().schema(), location=f"file://{elsewhere}/out")
    lake.set({"iceberg.tables": "db.out"})
    with pytest.raises(ConfigError, match="outside the folders"):
        lake.stage(numbered([{"a": 2}], first=1), 2)


def test_the_configuration_of_the_peer_is_read_but_for_its_catalog(
    lake: Lake, caplog: pytest.LogCaptureFixture
) -> None:
    peer = json.loads(PEER.read_text())
    peer = peer.get("config", peer)
    peer = {key: value for key, value in peer.items() if key.startswith("iceberg.") and "catalog" not in key}
    lake.config = {key: value for key, value in CONFIG.items() if "catalog" in key} | peer
    lake.config |= {"iceberg.tabels": "x", "iceberg.connect.group-id": "g"}
    with caplog.at_level(logging.INFO):
        lake.run(numbered([{"a": 1}]))
    assert lake.rows() == [{"a": 1}]
    said = [record.getMessage() for record in caplog.records if record.getMessage().startswith("iceberg.")]
    assert any(text.startswith("iceberg.control.topic is not needed") for text in said)
    assert any(text.startswith("iceberg.connect.group-id is not needed") for text in said)
    assert [text for text in said if "is no setting" in text] == [
        one for one in said if one.startswith("iceberg.tabels")
    ]
