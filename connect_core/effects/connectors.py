"""Effects that call connector code on the driver: task configs, bounds, the target's marker."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from connect_core.api.backfill import ExistingExports, ReplacingCommitter
from connect_core.api.connector import Connector, WorkerLimits
from connect_core.api.sink import CommitMarker, SinkCommitter, SinkConnector
from connect_core.api.source import SourceConnector
from connect_core.effects.perform import Handlers
from connect_core.errors import ConnectError, RetriableError
from connect_core.interval.effects import (
    AbandonTarget,
    CommitTarget,
    CompareTarget,
    Effect,
    FenceTarget,
    LatestSourceOffsets,
    PublishTarget,
    ReadExistingExports,
    ReadLastInterval,
    ReadTargetMarker,
    ReleaseTarget,
    ReplaceTarget,
    SweepTarget,
    TaskConfigs,
)
from connect_core.interval.values import OffsetStates, SourceOffsets, TaskAssignment
from connect_core.task.hooks import HookThread, stop_plugin
from connect_core.task.shortage import is_shortage

__all__ = ["BY_CONNECTOR", "ConnectorEffects", "DriverContext"]


@dataclass(slots=True)
class DriverContext:
    """A connector's context on the driver; records the connector's requests."""

    connector_name: str
    limits: WorkerLimits
    deployment: str = ""
    read_offsets: Callable[[], SourceOffsets] = dict
    redaction: Callable[[str], str] = str
    offset_states: OffsetStates = field(default_factory=dict)
    is_reconfiguration_requested: bool = False
    error: BaseException | None = None

    @property
    def source_offsets(self) -> SourceOffsets:
        """All committed source offsets, as the metadata database has them now."""
        return self.read_offsets()

    def redact(self, text: str) -> str:
        """Return a text without the connector's secrets."""
        return self.redaction(text)

    def request_task_reconfiguration(self) -> None:
        """Request a call of ``task_configs`` at the next commit point."""
        self.is_reconfiguration_requested = True

    def raise_error(self, error: BaseException) -> None:
        """Fail the connector."""
        self.error = error


@dataclass(slots=True)
class ConnectorEffects:
    """One connector, which stays started from plan to plan; ``close`` stops it.

    ``resolved`` is the configuration with references resolved; task configs the
    connector derives from it are translated back by ``unresolve``. Each call made
    for a plan may take ``hook_seconds`` (``hook.timeout.ms``); the target's work
    in a commit has no limit. ``earlier`` makes such an object from an earlier raw
    configuration; by default the configuration has no references.
    """

    connector: Connector
    context: DriverContext
    resolved: Mapping[str, str]
    unresolve: Callable[[Mapping[str, str]], Mapping[str, str]] = dict
    hook_seconds: float = 300.0
    earlier: Callable[[Mapping[str, str]], ConnectorEffects] | None = None
    _is_initialized: bool = False
    _is_started: bool = False
    _hooks: HookThread = field(init=False)
    _committer: SinkCommitter | None = field(default=None)
    _earlier: dict[str, ConnectorEffects] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._hooks = HookThread(self.connector, self.hook_seconds)

    def handlers(self) -> Handlers:
        """Return the performer of each effect this object performs."""
        return dict.fromkeys(BY_CONNECTOR, self.perform)

    def perform(self, effect: Effect[Any]) -> Any:
        """Perform one of the effects listed in ``BY_CONNECTOR``; return its result.

        Every exception of the connector's code becomes a ConnectError. A temporary shortage on the machine, such as
        a full disk, becomes a RetriableError: no manual restart must be needed afterwards.
        """
        try:
            return BY_CONNECTOR[type(effect)](self, effect)
        except ConnectError as error:
            if isinstance(error, RetriableError) or not is_shortage(error):
                raise
            raise RetriableError(str(error)) from error
        except Exception as error:
            name, kind = self.context.connector_name, type(effect).__name__
            text = f"Connector {name} raised {type(error).__name__} in {kind}: {error}"
            raise (RetriableError if is_shortage(error) else ConnectError)(text) from error

    def close(self) -> None:
        """Stop the connector and close its committer, also those of earlier configurations."""
        for one in self._earlier.values():
            one.close()
        self._earlier.clear()
        if self._committer is not None:
            self._committer.close()
        if self._is_started:
            stop_plugin(self._hooks, self.connector, self.hook_seconds)
        self._committer, self._is_started = None, False

    def start(self) -> None:
        """Initialize and start the connector, once."""
        if self._is_started:
            return
        self._initialize()
        self._hooks.call("start", lambda: self.connector.start(self.resolved))
        self._is_started = True
        if isinstance(self.connector, SinkConnector):
            self._committer = self.connector.committer(self.resolved)

    def _initialize(self) -> None:
        if not self._is_initialized:
            self._hooks.call("initialize", lambda: self.connector.initialize(self.context))
            self._is_initialized = True

    def _task_configs(self, effect: TaskConfigs) -> TaskAssignment:
        self.start()
        if self.context.error is not None:
            raise ConnectError(f"Connector {effect.connector} failed") from self.context.error
        self.context.is_reconfiguration_requested = False
        configs = self._hooks.call("task_configs", lambda: self.connector.task_configs(effect.max_tasks))
        return TaskAssignment(tuple(self.unresolve(config) for config in configs), self._committer is not None)

    def _latest(self, effect: LatestSourceOffsets) -> SourceOffsets | None:
        connector = self.connector
        assert isinstance(connector, SourceConnector)
        self.context.offset_states = effect.states
        self.start()
        return self._hooks.call("latest", lambda: connector.latest(effect.offsets))

    def _compare(self, effect: CompareTarget) -> bool:
        mine = self.target()
        try:
            other = self._of(effect.config)
            return type(other.connector) is type(self.connector) and other.target() == mine
        except ConnectError:
            # It counts as another target: an effect on it then raises the reason.
            return False

    def target(self) -> str:
        """Return the connector's description of where its markers are stored; it need not be started."""
        assert isinstance(self.connector, SinkConnector)
        self._initialize()
        return self.connector.target(self.resolved)

    def committer(self) -> SinkCommitter | None:
        """Return the started connector's committer, if it has one."""
        self.start()
        return self._committer

    def _fence(self, effect: FenceTarget) -> Any:
        committer = self._of(effect.config).committer()
        return None if committer is None else committer.fence(effect.epoch)

    def _last_interval(self, effect: ReadLastInterval) -> tuple[int, int] | None:
        committer = self.committer()
        return None if committer is None else committer.last_interval()

    def _read_marker(self, effect: ReadTargetMarker) -> CommitMarker | None:
        committer = self._of(effect.config).committer()
        return None if committer is None else committer.read_marker(effect.key)

    def _commit(self, effect: CommitTarget) -> CommitMarker:
        return self._kept().commit(effect.key, effect.staged)

    def _replacing(self) -> ReplacingCommitter | None:
        committer: Any = self.committer() if isinstance(self.connector, SinkConnector) else None
        return committer if hasattr(committer, "existing") else None

    def _existing(self, effect: ReadExistingExports) -> ExistingExports | str:
        committer = self._replacing()
        if committer is None:
            return f"{type(self.connector).__name__} cannot replace what it has written"
        return committer.refusal() or committer.existing(effect.ranges)

    def _replace(self, effect: ReplaceTarget) -> CommitMarker:
        committer = self._replacing()
        if committer is None:
            raise ConnectError(f"Connector {self.context.connector_name} cannot replace what it has written")
        return committer.replace(effect.key, effect.staged, effect.backfill)

    def _publish(self, effect: PublishTarget) -> None:
        self._of(effect.config)._kept().publish(effect.key, effect.marker)

    def _abandon(self, effect: AbandonTarget) -> CommitMarker | None:
        committer = self._of(effect.config).committer()
        return None if committer is None else committer.abandon(effect.key, effect.positions)

    def _sweep(self, effect: SweepTarget) -> None:
        # Not by ``committer``: no connector is started only to sweep.
        known = self if effect.config is None else self._earlier.get(_name(effect.config))
        if known is not None and known._committer is not None:
            known._committer.sweep(effect.keep)

    def _release(self, effect: ReleaseTarget) -> None:
        committer = self.committer()
        if committer is not None:
            committer.release()

    def _of(self, config: Mapping[str, str] | None) -> ConnectorEffects:
        if config is None:
            return self
        name = _name(config)
        if name not in self._earlier:
            self._earlier[name] = (self.earlier or self._plainly)(config)
        return self._earlier[name]

    def _plainly(self, config: Mapping[str, str]) -> ConnectorEffects:
        context = DriverContext(self.context.connector_name, self.context.limits, self.context.deployment)
        return ConnectorEffects(type(self.connector)(), context, config, hook_seconds=self.hook_seconds)

    def _kept(self) -> SinkCommitter:
        committer = self.committer()
        if committer is None:
            raise ConnectError(f"Connector {self.context.connector_name} does not store a marker")
        return committer


def _name(config: Mapping[str, str]) -> str:
    return json.dumps(sorted(config.items()))


BY_CONNECTOR: Mapping[type[Effect[Any]], Callable[[ConnectorEffects, Any], Any]] = {
    TaskConfigs: ConnectorEffects._task_configs,
    LatestSourceOffsets: ConnectorEffects._latest,
    CompareTarget: ConnectorEffects._compare,
    FenceTarget: ConnectorEffects._fence,
    ReadLastInterval: ConnectorEffects._last_interval,
    ReadTargetMarker: ConnectorEffects._read_marker,
    ReadExistingExports: ConnectorEffects._existing,
    ReplaceTarget: ConnectorEffects._replace,
    CommitTarget: ConnectorEffects._commit,
    PublishTarget: ConnectorEffects._publish,
    AbandonTarget: ConnectorEffects._abandon,
    SweepTarget: ConnectorEffects._sweep,
    ReleaseTarget: ConnectorEffects._release,
}
"""Effect → the method that performs it by the connector's own code."""
