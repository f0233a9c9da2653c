"""Live checks: a valid configuration is tried on the systems it names, within seconds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import replace

from connect_core.api.config import ConfigValue
from connect_core.configs import ValidatedConfig, ValidatedSetting
from connect_core.errors import ConnectError
from connect_core.herder.attempts import Attempts

__all__ = ["LiveCheck", "with_live_check"]

LiveCheck = Callable[[], Mapping[str, Sequence[str]]]
"""Tries a connector's systems and returns the errors by setting; may hang."""

_KEY = "connector.class"
# More than the requests that a worker serves at once: only checks that hang can be so many.
_CHECKS = Attempts("checks of the systems that connectors need", 64)


def with_live_check(infos: ValidatedConfig, check: LiveCheck, seconds: float) -> ValidatedConfig:
    """Return the infos with the errors a live check finds within ``seconds``."""
    return _with_errors(infos, _found(check, infos.name, seconds))


def _found(check: LiveCheck, connector: str, seconds: float) -> Mapping[str, Sequence[str]]:
    try:
        running = _CHECKS.start(check)
        error = running.exception(seconds)
    except FutureTimeoutError:
        silent = f"The systems that {connector} needs did not respond within {seconds:g} s: are they running?"
        return {_KEY: [f"{silent} If they are, try again"]}
    except ConnectError as refused:
        return {_KEY: [str(refused)]}
    if error is None:
        return running.result()
    text = str(error) if isinstance(error, ConnectError) else f"The check failed: {type(error).__name__}: {error}"
    return {_KEY: [text]}


def _with_errors(infos: ValidatedConfig, found: Mapping[str, Sequence[str]]) -> ValidatedConfig:
    known = {info.value.name for info in infos.settings if info.value is not None}
    shown = [replace(info, value=_noted(info.value, found)) if info.value else info for info in infos.settings]
    shown += [ValidatedSetting(None, _noted(ConfigValue(key), found)) for key in found if key not in known]
    count = sum(len(messages) for messages in found.values())
    return replace(infos, settings=tuple(shown), error_count=infos.error_count + count)


def _noted(value: ConfigValue, found: Mapping[str, Sequence[str]]) -> ConfigValue:
    messages = found.get(value.name, ())
    return replace(value, error_messages=[*value.error_messages, *messages]) if messages else value
