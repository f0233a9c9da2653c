"""Effects of live changes: each is timed by itself, and found in new files only."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connect_core.cli.examples import deploy
from connect_core.cli.live import Effect, NewFiles, await_effects, orders_arrive
from connect_core.cli.waiter import ConnectorWaiter
from connect_core.dev.stack import Silent
from connect_core.errors import ConnectError
from tests.cli.test_examples import EXAMPLE
from tests.herder.harness import Harness


def export(folder: Path, name: str, amounts: dict[int, str]) -> None:
    rows = [{"id": id, "amount": Decimal(amount)} for id, amount in amounts.items()]
    (folder / "orders" / "partition=0").mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), folder / "orders" / "partition=0" / f"{name}.parquet")


def test_orders_arrive_when_all_are_in_new_files(tmp_path: Path) -> None:
    export(tmp_path, "old", {1: "1.50"})
    arrive = orders_arrive(NewFiles(tmp_path, "orders"), {1: Decimal("1.50"), 2: Decimal("3.00")})
    assert not arrive(), "the file was there before the change"
    export(tmp_path, "first", {2: "3.00", 3: "4.00"})
    assert not arrive()
    export(tmp_path, "second", {1: "1.25"})
    assert not arrive(), "another version of the order"
    export(tmp_path, "third", {1: "1.50"})
    assert arrive()


def test_effects_are_timed_one_by_one(harness: Harness) -> None:
    deploy(harness.herder, EXAMPLE)
    waiter = ConnectorWaiter(harness.herder, ["out"], Silent())
    answers = {"early": iter([True]), "late": iter([False, True])}
    effects = [Effect(what, "out", partial(next, answers[what])) for what in ("late", "early")]
    late, early = await_effects(waiter, effects, 60)
    assert 0 <= early < late


def test_an_effect_that_does_not_come_is_named(harness: Harness) -> None:
    deploy(harness.herder, EXAMPLE)
    effects = [Effect("a row in its copy", "out", lambda: False), Effect("another", "out", lambda: True)]
    with pytest.raises(ConnectError, match="waiting for a row in its copy, another: connector out is"):
        await_effects(ConnectorWaiter(harness.herder, ["out"], Silent()), effects, 0)
