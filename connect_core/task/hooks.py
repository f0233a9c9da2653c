"""Calls of a plugin's code: one thread for one object, each call within a time limit.

Connect gives each task a thread of its own, so that it may hold thread-bound objects, but waits forever for a call that
never returns.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, TypeVar

from connect_core.api.connector import Connector, Task
from connect_core.api.source import SourceTask
from connect_core.errors import AttemptError, ConnectError
from connect_core.task.tolerance import class_name

__all__ = ["HookThread", "HookTimeoutError", "hook_error", "release_task", "stop_plugin"]

Result = TypeVar("Result")
"""What a hook returns."""

_LOG = logging.getLogger(__name__)

_Call = tuple[Callable[[], Any], "Future[Any]"]


class HookTimeoutError(AttemptError):
    """A hook did not return in time."""


@dataclass(slots=True)
class HookThread:
    """Calls hooks of ``owner`` one after the other, none longer than ``seconds`` (``hook.timeout.ms``).

    After a call that did not return, the thread is abandoned, as it cannot be ended from outside. The next call gets a
    new one.
    """

    owner: object
    seconds: float
    _calls: SimpleQueue[_Call | None] = field(default_factory=SimpleQueue)
    _thread: threading.Thread | None = None

    def call(self, name: str, hook: Callable[[], Result], seconds: float | None = None) -> Result:
        """Return what the hook returns.

        Raise what it raises if that is a ConnectError, else ConnectError with
        it as cause; HookTimeoutError, with the line it hangs at, when it does not return.
        """
        limit = self.seconds if seconds is None else seconds
        answer = self.begin(hook)
        thread = self._thread
        if not wait([answer], limit).done:
            self._thread = None
            raise HookTimeoutError(
                f"{class_name(self.owner)}.{name} did not return within {limit:g} s{_where(thread, self.owner)}."
                " Unblock what it is waiting for, or raise hook.timeout.ms"
            )
        error = answer.exception()
        if error is not None:
            raised = hook_error(self.owner, name, error)
            raise raised from (raised.__cause__ if raised is error else error)
        return answer.result()

    def begin(self, hook: Callable[[], Result]) -> Future[Result]:
        """Queue a hook as the thread's next call, without waiting for it."""
        if self._thread is None:
            self._calls = SimpleQueue()
            name = f"hooks of {type(self.owner).__name__}"
            thread = threading.Thread(target=_serve, args=(self._calls,), name=name, daemon=True)
            thread.start()
            self._thread = thread
        answer: Future[Result] = Future()
        self._calls.put((hook, answer))
        return answer

    def close(self) -> None:
        """Let the thread end after its current call."""
        if self._thread is not None:
            self._calls.put(None)
            self._thread = None


def hook_error(owner: object, name: str, error: BaseException) -> ConnectError:
    """Return a hook's error as a ConnectError: itself, or one to be raised from it."""
    if isinstance(error, ConnectError):
        return error
    return ConnectError(f"{class_name(owner)}.{name} raised {type(error).__name__}: {error}")


def stop_plugin(hooks: HookThread, plugin: Connector | Task, seconds: float) -> bool:
    """Call ``stop``, the last hook → whether it returned in time.

    What it raises is only logged: the work is done. Connect: ``WorkerTask.doClose``.
    """
    try:
        hooks.call("stop", plugin.stop, seconds)
    except ConnectError as error:
        _LOG.warning("it could not be stopped: %s", error, exc_info=error.__cause__)
        return not isinstance(error, HookTimeoutError)
    finally:
        hooks.close()
    return True


def release_task(task: SourceTask, seconds: float) -> None:
    """Call ``release``, if the task defines it. What it raises is only logged: the work is done."""
    if type(task).release is SourceTask.release:
        return
    hooks = HookThread(task, seconds)
    try:
        hooks.call("release", task.release)
    except ConnectError as error:
        _LOG.warning("it could not be released: %s", error, exc_info=error.__cause__)
    finally:
        hooks.close()


def _serve(calls: SimpleQueue[_Call | None]) -> None:
    while (call := calls.get()) is not None:
        hook, answer = call
        try:
            answer.set_result(hook())
        except BaseException as error:
            answer.set_exception(error)
        # Otherwise the last call's objects live until the next call.
        del call, hook, answer


def _where(thread: threading.Thread | None, owner: object) -> str:
    """Return the line that a thread is at, in the owner's own file if that is on its stack."""
    frame = sys._current_frames().get((thread.ident if thread else None) or 0)
    if frame is None:
        return ""
    stack = traceback.extract_stack(frame)
    own = getattr(sys.modules.get(type(owner).__module__), "__file__", None)
    last = next((one for one in reversed(stack) if one.filename == own), stack[-1])
    return f"; it is at {last.filename}:{last.lineno} in {last.name}"
