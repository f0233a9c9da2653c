"""Connector code on the driver: its order, its errors, its time-outs (Connect's BlockingConnector)."""

from __future__ import annotations

import errno
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from connect_core.api.config import ConfigDef
from connect_core.api.connector import WorkerLimits
from connect_core.api.source import SourceConnector, SourceTask
from connect_core.effects.connectors import ConnectorEffects, DriverContext
from connect_core.errors import ConfigError, ConnectError, RetriableError
from connect_core.interval.effects import LatestSourceOffsets, TaskConfigs
from connect_core.task.hooks import HookTimeoutError

pytestmark = pytest.mark.slow


class Recording(SourceConnector):
    """Writes down every call."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def start(self, config: Mapping[str, str]) -> None:
        self.calls.append("start")

    def task_class(self) -> type[SourceTask]:
        return SourceTask

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        self.calls.append(f"task_configs {max_tasks}")
        return [{"number": "1"}]

    def latest(self, offsets: Mapping[str, Any]) -> Mapping[str, Any] | None:
        self.calls.append("latest")
        return None

    def stop(self) -> None:
        self.calls.append("stop")

    def config(self) -> ConfigDef:
        return ConfigDef()


def effects_of(connector: SourceConnector, seconds: float = 60.0) -> ConnectorEffects:
    return ConnectorEffects(connector, DriverContext("c", WorkerLimits()), {}, dict, seconds)


def perform(effects: ConnectorEffects, hook: str) -> Any:
    effect = LatestSourceOffsets("c", {}, {}) if hook == "latest" else TaskConfigs("c", 2)
    return effects.handlers()[type(effect)](effect)


def test_connector_is_started_once_and_stopped_at_the_end() -> None:
    connector = Recording()
    effects = effects_of(connector)
    assert perform(effects, "task_configs").configs == ({"number": "1"},)
    perform(effects, "latest")
    perform(effects, "task_configs")
    effects.close()
    assert connector.calls == ["start", "task_configs 2", "latest", "task_configs 2", "stop"]


@pytest.mark.parametrize("hook", ["initialize", "start", "task_configs", "latest"])
def test_what_a_hook_raises_is_told_with_its_cause(hook: str) -> None:
    def fail(*arguments: object) -> None:
        raise ValueError("broken")

    effects = effects_of(type("Broken", (Recording,), {hook: fail})())
    with pytest.raises(ConnectError, match=rf"Broken\.{hook} raised ValueError: broken") as raised:
        perform(effects, hook)
    assert isinstance(raised.value.__cause__, ValueError)


@pytest.mark.parametrize("hook", ["initialize", "start", "task_configs", "latest"])
def test_full_disk_is_retriable_whatever_hook_meets_it(hook: str) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(RetriableError, match="No space left on device"):
        perform(effects_of(type("Full", (Recording,), {hook: fail})()), hook)


@pytest.mark.parametrize("hook", ["initialize", "start", "task_configs", "latest"])
def test_hook_that_hangs_ends_in_time_and_is_named(hook: str) -> None:
    released = threading.Event()

    def hang(*arguments: object) -> None:
        released.wait()

    effects = effects_of(type("Hanging", (Recording,), {hook: hang, "__module__": __name__})(), 0.3)
    with pytest.raises(HookTimeoutError, match=rf"Hanging\.{hook} did not return within 0\.3 s; it is at .*in hang"):
        perform(effects, hook)
    effects.close()
    released.set()


def test_an_error_of_ours_keeps_its_kind() -> None:
    class Refusing(Recording):
        def start(self, config: Mapping[str, str]) -> None:
            raise ConfigError("file", "/x", "it must exist")

    with pytest.raises(ConfigError, match="it must exist"):
        perform(effects_of(Refusing()), "task_configs")


def test_stop_may_fail() -> None:
    class Stubborn(Recording):
        def stop(self) -> None:
            raise ValueError("cannot stop")

    effects = effects_of(Stubborn())
    perform(effects, "task_configs")
    effects.close()
