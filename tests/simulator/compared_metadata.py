"""The quick metadata database and the production SQL side by side: every act on both, every answer compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from connect_core.errors import ConnectError
from connect_core.interval import effects as fx
from connect_core.interval.values import ConnectorState, ConnectorType, TaskResult
from tests.simulator.metadata import Metadata
from tests.simulator.store_metadata import READS, StoreMetadata
from tests.simulator.truth import Violation

__all__ = ["ComparedMetadata"]

_SEEN = ("state", "deleted", "holder", "offsets", "states", "restarts", "planned_version", "open_intervals", "is_held")


class ComparedMetadata(Metadata):
    """Answers as the quick one does. Raises Violation where the production SQL would answer otherwise."""

    def __init__(self, kind: ConnectorType, is_live: Callable[[str], bool]) -> None:
        super().__init__(kind, is_live)
        self._real = StoreMetadata(kind, is_live)
        self._table = self._real.handlers()

    def handlers(self) -> dict[type[fx.Effect[Any]], Callable[[Any], Any]]:
        return {kind: self._both(kind, one) for kind, one in super().handlers().items()}

    def set_target_state(self, target: Any) -> None:
        super().set_target_state(target)
        self._real.set_target_state(target)
        self._compare("set_target_state")

    def configure(self, config: Mapping[str, str] | None = None) -> None:
        super().configure(config)
        self._real.configure(self.state.config)
        self._compare("configure")

    def end_unasked(self) -> None:
        super().end_unasked()
        self._real.end_unasked()
        self._compare("end_unasked")

    def delete(self, forget: bool) -> None:
        super().delete(forget)
        self._real.delete(forget)
        self._compare("delete")

    def create(self) -> None:
        super().create()
        self._real.create()
        self._compare("create")

    def content(self) -> Any:
        return super().content(), self._real.content()

    def restore(self, content: Any) -> None:
        quick, real = (None, None) if content is None else content
        super().restore(quick)
        self._real.restore(real)
        self._compare("restore")

    def ask_restart(self, task: int) -> None:
        super().ask_restart(task)
        self._real.ask_restart(task)
        self._compare("ask_restart")

    def _both(self, kind: type[fx.Effect[Any]], quick: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def perform(effect: Any) -> Any:
            real, real_error = _outcome(self._table[kind], effect)
            answer, error = _outcome(quick, effect)
            _check(effect, _kind(real_error), _kind(error))
            _check(effect, real, answer)
            if kind not in READS:
                # A read leaves both as they were compared after the last write.
                self._compare(effect)
            if error is not None:
                raise error
            return answer

        return perform

    def _compare(self, act: object) -> None:
        """Compare all that a plan could ever ask for."""
        with self._real.one_transaction():
            for name in _SEEN:
                _check((name, act), getattr(self._real, name), getattr(self, name))
            _check(("unfinished", act), self._real.unfinished(), self.unfinished())


def _check(what: object, real: Any, quick: Any) -> None:
    if _plain(real) != _plain(quick):
        told = f"{what[0]} after {what[1]}" if isinstance(what, tuple) else what
        raise Violation(f"{told}: SQL has {real}, the quick one {quick}")


def _kind(error: ConnectError | None) -> tuple[type, int]:
    return type(error), getattr(error, "epoch", 0)


def _outcome(handler: Callable[[Any], Any], effect: Any) -> tuple[Any, ConnectError | None]:
    try:
        return handler(effect), None
    except ConnectError as error:
        return None, error


def _plain(value: Any) -> Any:
    """Leave out the text of failures and the times of tasks, which no plan looks at."""
    match value:
        case ConnectorState():
            return replace(value, config={}, failure=None)
        case TaskResult():
            return replace(value, error=None, started=None, ended=None)
        case tuple() | list():
            return [_plain(one) for one in value]
    return value
