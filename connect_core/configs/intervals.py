"""This project's own settings: when a connector runs, how far an interval reaches, what it may skip."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from connect_core.api.config import (
    CaseInsensitiveValidString,
    ConfigDef,
    ConfigType,
    Importance,
    Range,
    ValidString,
    Width,
)
from connect_core.configs.definitions import ERROR_GROUP
from connect_core.configs.sinks import define_dead_letters
from connect_core.errors import ConfigError
from connect_core.interval.values import IntervalCaps

__all__ = ["INTERVALS", "interval_caps"]

_GROUP = "Intervals"
_PRESETS = ("@continuous", "@hourly", "@daily", "@weekly", "@monthly", "@yearly", "@once", "@none")
_CRON = re.compile(r"\S+( +\S+){4,5}")
_CRON_FIELD = re.compile(r"[0-9A-Za-z*/,?#-]+")
_DURATION = re.compile(r"P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+S)?)?")


class _Schedule:
    """A preset, a cron expression, an ISO 8601 duration, or ``asset:`` and a name."""

    def ensure_valid(self, name: str, value: Any) -> None:
        if not _is_schedule(value or ""):
            remedy = f"Use {', '.join(_PRESETS)}, a cron expression, a duration as PT15M, or asset:NAME"
            raise ConfigError(name, value, remedy)

    def __str__(self) -> str:
        return f"[{', '.join(_PRESETS)}], cron expression, ISO 8601 duration, asset:NAME"


def _is_schedule(text: str) -> bool:
    if text in _PRESETS or _DURATION.fullmatch(text):
        return True
    if text.startswith("asset:"):
        return len(text) > len("asset:")
    return _CRON.fullmatch(text) is not None and all(_CRON_FIELD.fullmatch(field) for field in text.split())


@dataclass(frozen=True, slots=True)
class _Limit:
    """A number within a range, or null for no limit."""

    range: Range

    def ensure_valid(self, name: str, value: Any) -> None:
        if value is not None:
            self.range.ensure_valid(name, value)

    def __str__(self) -> str:
        return f"{self.range}, or leave it unset for no limit"


_ROWS: tuple[tuple[str, ConfigType, Any, Any, str], ...] = (
    ("schedule", ConfigType.STRING, "@continuous", _Schedule(), "When runs of the connector start."),
    ("schedule.retries", ConfigType.INT, 3, Range.at_least(0), "How often Airflow retries a failed run."),
    (
        "schedule.catchup",
        ConfigType.BOOLEAN,
        False,
        None,
        "Whether runs missed since the connector was created are caught up on, each with its own data interval.",
    ),
    (
        "schedule.pool",
        ConfigType.STRING,
        None,
        None,
        "Airflow pool from which runs take a slot.",
    ),
    ("schedule.outlets", ConfigType.LIST, "", None, "URIs of Airflow assets that a run updates if it moved data."),
    (
        "interval.max.records",
        ConfigType.LONG,
        None,
        _Limit(Range.at_least(1)),
        "Maximum number of records in one interval, over all tasks.",
    ),
    (
        "interval.max.bytes",
        ConfigType.LONG,
        None,
        _Limit(Range.at_least(1)),
        "Maximum number of bytes in one interval, over all tasks.",
    ),
    ("interval.max.ms", ConfigType.LONG, None, _Limit(Range.at_least(1)), "Maximum time for which one interval reads."),
    (
        "interval.idle.ms",
        ConfigType.LONG,
        1000,
        Range.at_least(0),
        "How long a source without a declared end may return nothing before its interval ends.",
    ),
    (
        "interval.bound",
        ConfigType.STRING,
        "latest",
        ValidString.one_of("latest", "data_interval_end"),
        "Where an interval of a sink ends: all there is, or before the first record of each partition that is of the "
        "end of Airflow's data interval or later; without one, of the asset's or the run's own time.",
    ),
    (
        "interval.future.timestamps",
        ConfigType.STRING,
        "fail",
        ValidString.one_of("fail", "advance"),
        "What to do where an interval that ends by a time would not move for a record later than now: fail, or take "
        "such records with those around them, counted and audited.",
    ),
    (
        "interval.future.skew.ms",
        ConfigType.LONG,
        300000,
        Range.at_least(0),
        "How far in the future a record's time may be before interval.future.timestamps applies to it.",
    ),
    (
        "interval.data.loss",
        ConfigType.STRING,
        "fail",
        ValidString.one_of("fail", "skip"),
        "What to do when offsets that were planned have been removed from their topic.",
    ),
    (
        "hook.timeout.ms",
        ConfigType.LONG,
        300000,
        Range.at_least(1),
        "How long a call of a task's code may take, poll excepted, before the task fails and is tried again.",
    ),
    ("run.max.ms", ConfigType.LONG, 60000, Range.at_least(1), "How long a run keeps starting new intervals."),
    ("run.linger.ms", ConfigType.LONG, 0, Range.at_least(0), "How long a run waits for more data before it ends."),
    (
        "source.poll.interval.ms",
        ConfigType.LONG,
        10000,
        Range.at_least(1),
        "How often a source without a declared end is checked for data while it is idle.",
    ),
)


def _definition() -> ConfigDef:
    config = ConfigDef()
    for order, (name, kind, default, validator, doc) in enumerate(_ROWS, 1):
        traits = {"validator": validator, "doc": doc, "group": _GROUP, "order": order, "width": Width.SHORT}
        config.define(name, kind, default, importance=Importance.LOW, **traits)
    _define_errors(config)
    _define_guarantee(config)
    return config


def _define_guarantee(config: ConfigDef) -> None:
    """Let sinks, too, be rejected unless they are exactly-once; Connect checks sources only."""
    config.define(
        "exactly.once.support",
        ConfigType.STRING,
        "requested",
        validator=CaseInsensitiveValidString.one_of("required", "requested"),
        importance=Importance.MEDIUM,
        doc="required: reject the connector unless it declares that it is exactly-once; requested: do not check.",
        group="Exactly Once Support",
        order=2,
        width=Width.SHORT,
    )


def _define_errors(config: ConfigDef) -> None:
    """Add the limits of skipped records, and dead letters for sources, too."""
    define_dead_letters(config)
    rows: tuple[tuple[str, ConfigType, Any, str], ...] = (
        (
            "errors.max.count",
            ConfigType.LONG,
            _Limit(Range.at_least(0)),
            "Maximum number of records that a task may skip in one interval before it fails; not set: any number.",
        ),
        (
            "errors.max.share",
            ConfigType.DOUBLE,
            _Limit(Range.between(0, 1)),
            "The same as a fraction of the records read, from 0 to 1; checked before anything is committed.",
        ),
    )
    for order, (name, kind, validator, doc) in enumerate(rows, 9):
        traits = {"validator": validator, "doc": doc, "group": ERROR_GROUP, "order": order, "width": Width.SHORT}
        config.define(name, kind, None, importance=Importance.LOW, **traits)


INTERVALS = _definition()
"""The definition; treat as constant."""


def interval_caps(values: Mapping[str, Any]) -> IntervalCaps:
    """Return the limits at which an interval ends."""
    return IntervalCaps(
        records=values["interval.max.records"],
        bytes=values["interval.max.bytes"],
        milliseconds=values["interval.max.ms"],
        idle_milliseconds=values["interval.idle.ms"],
    )
