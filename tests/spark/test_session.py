"""How long a driver waits for a Spark server that died."""

from __future__ import annotations

from pyspark.sql.connect.client.retries import DefaultPolicy

from connect_core.spark.session import _wait_shortly


def waits(policy: DefaultPolicy) -> list[int]:
    state = policy.to_state()
    return list(iter(state.next_attempt, None))


def test_server_that_is_back_is_noticed_within_two_seconds_and_patience_is_spark_s_own() -> None:
    own, shorter = DefaultPolicy(), DefaultPolicy()
    _wait_shortly([shorter])
    assert max(waits(own)) > 50_000
    assert max(waits(shorter)) <= 2000
    assert sum(waits(shorter)) >= 590_000
