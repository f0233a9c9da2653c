"""A contract is worth what it refuses: plugins with one fault each fail the test that names it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from connect_core.api import (
    Batch,
    ConfigDef,
    ConfigType,
    Converter,
    SchemaAndValue,
    SinkConnector,
    SinkRecord,
    SinkTask,
    SourceConnector,
    SourceRecord,
    SourceTask,
    Transformation,
)
from connect_core.api.data import STRING_SCHEMA
from connect_core.testing import ConverterContract, SinkContract, SourceContract, TransformationContract


class Rows(SourceTask):
    """Three rows, from the committed one on."""

    skips = 0

    def start(self, config: Mapping[str, str]) -> None:
        committed = self.context.offset_storage_reader.offset({"s": 1}) or {}
        self.next = committed.get("row", 0) and committed["row"] + self.skips

    def poll(self) -> list[SourceRecord] | None:
        if self.next >= 3:
            return None
        self.next += 1
        return [SourceRecord("t", value=self.next, source_partition={"s": 1}, source_offset={"row": self.next})]

    def stop(self) -> None:
        """End at once."""


class ForgetfulRows(Rows):
    skips = 1


class ReusingRows(Rows):
    """Reuses what it returns, as it may once ``poll`` is called again."""

    def start(self, config: Mapping[str, str]) -> None:
        super().start(config)
        self.row: dict[str, int] = {}
        self.offset: dict[str, int] = {}

    def poll(self) -> list[SourceRecord] | None:
        records = super().poll()
        self.row["id"] = self.offset["row"] = self.next
        return records and [replace(one, value=self.row, source_offset=self.offset) for one in records]


class OtherRows(Rows):
    def poll_batch(self) -> Batch:
        return Batch.from_records([replace(record, value=str(record.value)) for record in self.poll() or ()])


class RowsConnector(SourceConnector):
    kind: ClassVar[type[Rows]] = Rows

    def start(self, config: Mapping[str, str]) -> None:
        """Need nothing."""

    def stop(self) -> None:
        """Hold nothing."""

    def task_class(self) -> type[SourceTask]:
        return self.kind

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        return [{}]

    def config(self) -> ConfigDef:
        return ConfigDef()


class ForgetfulConnector(RowsConnector):
    kind = ForgetfulRows


class ReusingConnector(RowsConnector):
    kind = ReusingRows


class OtherConnector(RowsConnector):
    kind = OtherRows


class GreedyConnector(RowsConnector):
    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        return [{}] * (max_tasks + 1)


class UnfinishedConnector(RowsConnector):
    def latest(self, offsets: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
        return {'{"s":1}': {"row": 3, "extra": True}} if not offsets else {**offsets, "more": {}}


class Upper(Transformation):
    def config(self) -> ConfigDef:
        return ConfigDef().define("undocumented", ConfigType.STRING, "")

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Need nothing."""

    def apply(self, record: Any) -> Any:
        record.value = str(record.value).upper()
        return record

    def apply_batch(self, batch: Batch) -> Batch:
        return batch


class Reverse(Converter):
    def configure(self, configs: Mapping[str, Any], is_key: bool) -> None:
        """Need nothing."""

    def from_connect_data(self, topic: str | None, schema: Any, value: Any) -> bytes | None:
        return None if value is None else str(value)[::-1].encode()

    def to_connect_data(self, topic: str | None, value: bytes | None) -> SchemaAndValue:
        return SchemaAndValue(STRING_SCHEMA, None if value is None else value.decode())


class ListTask(SinkTask):
    def start(self, config: Mapping[str, str]) -> None:
        self.file: Path | None = self.context.limits.file_roots[0] / "rows"

    def put(self, records: Sequence[SinkRecord]) -> None:
        assert self.file is not None
        with self.file.open("a") as file:
            file.writelines(f"{record.value}\n" for record in records)

    def put_batch(self, batch: Batch) -> bool:
        return True

    def stop(self) -> None:
        self.file = None


class ListConnector(SinkConnector):
    def start(self, config: Mapping[str, str]) -> None:
        """Need nothing."""

    def stop(self) -> None:
        """Hold nothing."""

    def task_class(self) -> type[SinkTask]:
        return ListTask

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        return [{}] * max_tasks

    def config(self) -> ConfigDef:
        return ConfigDef()


def rows_of(kind: type[SourceConnector]) -> SourceContract:
    made: SourceContract = type("Contract", (SourceContract,), {"connector": kind})()
    return made


def list_contract() -> SinkContract:
    def contents(_: SinkContract, folder: Path) -> list[str]:
        return sorted((folder / "rows").read_text().splitlines()) if (folder / "rows").exists() else []

    made: SinkContract = type("Contract", (SinkContract,), {"connector": ListConnector, "contents": contents})()
    return made


@pytest.mark.slow
@pytest.mark.parametrize("kind", [RowsConnector, ReusingConnector])
def test_plain_source_keeps_every_promise(tmp_path: Path, kind: type[SourceConnector]) -> None:
    contract = rows_of(kind)
    for name in [name for name in dir(contract) if name.startswith("test_")]:
        test: Callable[..., None] = getattr(contract, name)
        test(*[tmp_path] * (test.__code__.co_argcount - 1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "test", "reason"),
    [
        (ForgetfulConnector, "test_reading_resumes_from_any_offset", "resumed after 1 records"),
        (ForgetfulConnector, "test_reading_resumes_after_any_poll", "resumed after 1 polls"),
        (OtherConnector, "test_lanes_agree", None),
        (GreedyConnector, "test_task_configs_keep_to_the_limit", r"task_configs\(1\) returned 2"),
        (UnfinishedConnector, "test_bound_is_reached", "must be those latest"),
    ],
)
def test_faulty_source_is_found_out(tmp_path: Path, kind: type[SourceConnector], test: str, reason: str | None) -> None:
    with pytest.raises(AssertionError, match=reason):
        getattr(rows_of(kind), test)(tmp_path)


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("test_settings_are_documented", "settings without doc"),
        ("test_apply_leaves_its_input_alone", "changed the record"),
        ("test_lanes_agree", None),
    ],
)
def test_faulty_transformation_is_found_out(test: str, reason: str | None) -> None:
    contract = type("Contract", (TransformationContract,), {"transformation": Upper})()
    with pytest.raises(AssertionError, match=reason):
        getattr(contract, test)()


def test_faulty_converter_is_found_out() -> None:
    contract = type("Contract", (ConverterContract,), {"converter": Reverse})()
    with pytest.raises(AssertionError, match="on its way through"):
        contract.test_bytes_survive_a_round_trip()
    with pytest.raises(UnicodeDecodeError):
        contract.test_bad_bytes_are_data_errors()


def test_faulty_sink_is_found_out(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        list_contract().test_lanes_agree(tmp_path)
    list_contract().test_records_arrive(tmp_path)
