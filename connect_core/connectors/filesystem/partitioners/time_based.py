"""Folders by time."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import ClassVar
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance
from connect_core.connectors.filesystem.partitioners.hive import component, hive_folder
from connect_core.connectors.filesystem.partitioners.joda import JodaFormat
from connect_core.connectors.filesystem.partitioners.partitioner import Partitioner
from connect_core.connectors.filesystem.partitioners.timestamps import EXTRACTORS, Extractor, of_wallclock
from connect_core.errors import ConfigError, DataError, IllegalArgumentError
from connect_core.java.zones import zone_of

__all__ = ["TimeBasedPartitioner"]

_FORMAT = "path.format"
_DURATION = "partition.duration.ms"
_ZONE = "timezone"
_LOCALE = "locale"
_EXTRACTOR = "timestamp.extractor"
_FIELD = "timestamp.field"
_LONGEST = 366_000 * 86_400_000
_SHIFT = 900_000
"""Offsets of time zones with a name are multiples of a quarter of an hour: times within one have the same folder."""
_WHOLE_SHIFTS = 63_072_000_000
"""This holds since 1972."""
_REMEMBERED = 100_000
_MOST_DURATIONS = 1000
"""How many durations a folder may have whose pattern is coarser than its duration."""
_NO_TIME = hive_folder("time", None)
"""The folder of null records if the time is a field's."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNLIKE = datetime(1987, 2, 3, 4, 5, 6, 789_000, UTC), datetime(2019, 11, 24, 17, 57, 38, 123_000, UTC)
"""Two times that differ in every unit: what they have in common is the pattern's own text."""
_CLASS = re.compile(r"(?:io\.confluent\.[\w.]+\$)?(\w+)TimestampExtractor\Z")


class TimeBasedPartitioner(Partitioner):
    """One folder for each period. Connect: ``TimeBasedPartitioner`` of Confluent's storage sinks."""

    path_format: ClassVar[str | None] = None
    """The pattern, if it is fixed and not set by ``path.format``."""
    duration: ClassVar[int | None] = None
    """The length of a folder's period in milliseconds, if it is fixed."""
    definition = (
        ConfigDef()
        .define(
            _FORMAT,
            ConfigType.STRING,
            None,
            importance=Importance.MEDIUM,
            doc="Names of the folders of the partitioner time, as a Joda-Time pattern such as "
            "'year'=YYYY/'month'=MM/'day'=dd/'hour'=HH; daily and hourly have their own.",
        )
        .define(
            _DURATION,
            ConfigType.LONG,
            -1,
            importance=Importance.MEDIUM,
            doc="The time that a folder of the partitioner time covers, in milliseconds: times are rounded down to it.",
        )
        .define(
            _ZONE,
            ConfigType.STRING,
            "UTC",
            importance=Importance.MEDIUM,
            doc="The time zone of time-based folders, such as Europe/Berlin or +02:00.",
        )
        .define(
            _LOCALE,
            ConfigType.STRING,
            "en",
            importance=Importance.LOW,
            doc="The language of month and day names in time-based folders; any, if the pattern has digits only.",
        )
        .define(
            _EXTRACTOR,
            ConfigType.STRING,
            "Wallclock",
            importance=Importance.MEDIUM,
            doc="The time that names a record's folder: Wallclock (when it is written), Record (its timestamp "
            "in Kafka) or RecordField (timestamp.field). With Wallclock a range exported again goes to other folders.",
        )
        .define(
            _FIELD,
            ConfigType.STRING,
            "timestamp",
            importance=Importance.MEDIUM,
            doc="The field of RecordField, a.b for a nested one: milliseconds, a timestamp, or ISO 8601 text.",
        )
    )

    def setup(self, settings: AbstractConfig) -> None:
        """Read the settings. Raises ConfigError for an unknown pattern, zone, language or extractor."""
        self._duration = self.duration or settings.get_long(_DURATION) or 0
        if self._duration <= 0:
            raise ConfigError(_DURATION, self._duration, "give the time that a folder covers; 3600000 is an hour")
        if self._duration > _LONGEST:
            raise ConfigError(
                _DURATION, self._duration, f"give at most {_LONGEST}, a thousand years; 3600000 is an hour"
            )
        self._zone = _zone(settings.get_string(_ZONE) or "")
        self._format = _pattern(self.path_format or settings.get_string(_FORMAT), settings.get_string(_LOCALE) or "en")
        fixed = self._zone.utcoffset(None) or timedelta()
        self._quantum = math.gcd(self._duration, _SHIFT, fixed // timedelta(milliseconds=1))
        self._extract = _extractor(settings.get_string(_EXTRACTOR) or "")
        self._field = settings.get_string(_FIELD) or ""
        self._known: dict[int, str] = {}
        self._begins: dict[str, datetime] = {}

    def folders(self, batch: Batch) -> pa.Array:
        """Return the folder of each record's time. Raises DataError for a record without one."""
        times = self._extract(batch, self._field)
        if times.null_count:
            return pa.array([_NO_TIME if one is None else self._folder(one) for one in times.to_pylist()], pa.string())
        given = times.to_numpy()
        quantum = self._quantum if len(given) and given.min() >= _WHOLE_SHIFTS else 1
        starts, codes = np.unique(given // quantum * quantum, return_inverse=True)
        names = [self._known.get(int(start)) or self._remembered(int(start)) for start in starts]
        return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(names, pa.string()))

    def _remembered(self, millis: int) -> str:
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        return self._known.setdefault(millis, self._folder(millis))

    def _folder(self, millis: int) -> str:
        try:
            moment = (_EPOCH + timedelta(milliseconds=millis)).astimezone(self._zone)
            local = moment.replace(tzinfo=UTC) - _EPOCH
            rounded = _EPOCH + local // timedelta(milliseconds=self._duration) * timedelta(milliseconds=self._duration)
        except OverflowError as error:
            raise DataError(
                f"the time {millis} ms since 1970 is outside the years 1 to 9999 that folders support"
            ) from error
        folder = self._name(rounded)
        self._begins.setdefault(folder, rounded)
        return folder

    def end_of(self, folder: str) -> int | None:
        """Return when a folder's last period ends.

        ``None`` for null records, if a name covers too many periods, and if the end is after the year 9999.
        """
        start = self._begins.get(folder)
        if start is None:
            return None
        end = start
        for _ in range(_MOST_DURATIONS):
            try:
                end += timedelta(milliseconds=self._duration)
            except OverflowError:
                return None
            if self._name(end) != folder:
                return max(self._millis(end, fold) for fold in (0, 1))
        return None

    def folder_at(self, millis: int) -> str | None:
        """Return the folder of a time."""
        return self._folder(millis)

    @property
    def keys(self) -> tuple[str, ...] | None:
        """The names in the pattern, if each of its parts is a name, ``=`` and a time."""
        first, second = ([part.partition("=") for part in self._name(at).split("/")] for at in _UNLIKE)
        names = tuple(unquote(name) for name, _, _ in first)
        is_named = all(name and value for name, _, value in (*first, *second))
        return names if is_named and names == tuple(unquote(name) for name, _, _ in second) else None

    @property
    def is_repeatable(self) -> bool:
        """Whether folders are named by a time of the records themselves."""
        return self._extract is not of_wallclock

    def _name(self, local: datetime) -> str:
        parts = self._format.format(local.replace(tzinfo=self._zone)).split("/")
        return "/".join(component(part) for part in parts if part)

    def _millis(self, local: datetime, fold: int) -> int:
        """Return a local time as milliseconds; when clocks are changed, it may exist twice or not at all."""
        return (local.replace(tzinfo=self._zone, fold=fold) - _EPOCH) // timedelta(milliseconds=1)


def _pattern(given: str | None, locale: str) -> JodaFormat:
    if not given or not given.strip("/"):
        raise ConfigError(_FORMAT, given, "the partitioner time needs it, such as 'year'=YYYY/'month'=MM/'day'=dd")
    try:
        pattern = JodaFormat(given)
    except IllegalArgumentError as error:
        raise ConfigError(_FORMAT, given, f"{error}; write it as in 'year'=YYYY/'month'=MM") from error
    if pattern.has_words and not re.match("en([_-]|$)", locale.lower()):
        raise ConfigError(_LOCALE, locale, "month and day names are supported in English only; use digits, such as MM")
    return pattern


def _zone(name: str) -> tzinfo:
    try:
        return zone_of(name)
    except ValueError as error:
        remedy = "there is no such time zone; give one such as Europe/Berlin, UTC or +02:00"
        raise ConfigError(_ZONE, name, remedy) from error


def _extractor(given: str) -> Extractor:
    name = _CLASS.sub(r"\1", given)
    if name not in EXTRACTORS:
        raise ConfigError(_EXTRACTOR, given, f"choose one of {', '.join(EXTRACTORS)}")
    return EXTRACTORS[name]
