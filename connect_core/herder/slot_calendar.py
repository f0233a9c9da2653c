"""The time slots of a scheduled export, for its calendar: hours, or whatever its schedule's runs export."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo

from connect_core.api.records import TopicPartition
from connect_core.errors import BadRequestError, ConnectError
from connect_core.herder.context import Herder
from connect_core.herder.lag import behind, topics_of
from connect_core.herder.slot_times import SlotTime, slot_times
from connect_core.herder.time_slots import SlotHistory, TimeSlot, time_slots
from connect_core.interval.time_bounds import LoadTimeBefore, millis_of
from connect_core.interval.values import ConnectorState, ConnectorType, IntervalRow, TargetState
from connect_core.java.zones import zone_of
from connect_core.store import connectors, interval_history, offsets, requests
from connect_core.store.database import Connection
from connect_core.store.interval_history import BoundedInterval

__all__ = ["BackfillRequest", "SlotCalendar", "SlotPeriod", "get_calendar"]

_LONGEST = timedelta(days=31)
_SHOWN = timedelta(days=7)
_MOST_INTERVALS = 20_000
"""Twice what ``history.retention.count`` keeps by default."""
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_EVER = datetime(9000, 1, 1, tzinfo=UTC)
_MANUAL = "manual__"
_ZONES = ("timezone", "timestamp.timezone", "file.name.timestamp.timezone")
"""The keys of FileSystemSink, Confluent's sinks and Aiven's."""

Positions = Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class SlotPeriod:
    """Asks for slots that end after ``since`` and by ``until``: by default now, and 7 days before; 31 at most."""

    since: datetime | None = None
    until: datetime | None = None

    def bounds(self, now: datetime) -> tuple[datetime, datetime]:
        """Return both times, with a zone. Raise BadRequestError."""
        until = now if self.until is None else _zoned(self.until)
        since = max(until, _EARLIEST + _SHOWN) - _SHOWN if self.since is None else _zoned(self.since)
        if not since < until:
            raise BadRequestError(f"{since.isoformat()} is not before {until.isoformat()}: give the earlier time first")
        if until - since > _LONGEST:
            raise BadRequestError(f"Ask for at most {_LONGEST.days} days at once")
        return since, min(until, now)


@dataclass(frozen=True, slots=True)
class BackfillRequest:
    """The last backfill that was requested and carried out later: where the API is in Airflow.

    ``first`` and ``last``: ends of the first and last slot. ``done_at`` is null until Airflow was told; ``error``: why
    Airflow refused, else null.
    """

    first: datetime
    last: datetime
    actor: str
    asked_at: datetime
    done_at: datetime | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotCalendar:
    """The slots of a connector, the oldest first, at most 1000. ``reason``: why it has none, else null.

    ``schedule`` is in UTC; ``timezone`` is the connector's, for the ``local_…`` times.
    ``reached``: the time before which everything was exported, late records excepted, null before the first interval.
    ``obstacle``: why no slot can be exported again now, else null.
    """

    connector: str
    reason: str | None = None
    schedule: str = ""
    timezone: str = "UTC"
    since: datetime | None = None
    until: datetime | None = None
    reached: datetime | None = None
    obstacle: str | None = None
    request: BackfillRequest | None = None
    slots: list[TimeSlot] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the database has of a connector: ``history`` without what only Kafka knows; ``runs`` by their bounds."""

    history: SlotHistory
    runs: Sequence[datetime]
    positions: Positions
    request: BackfillRequest | None


def get_calendar(
    herder: Herder, name: str, period: SlotPeriod = SlotPeriod(), now: datetime | None = None
) -> SlotCalendar:
    """Return the slots of a period. Raise NotFoundError, BadRequestError."""
    now = datetime.now(UTC) if now is None else now
    since, until = period.bounds(now)
    with herder.database.read() as connection:
        state = connectors.get(connection, name)
        reason = _no_calendar(state)
        if reason is not None:
            return SlotCalendar(connector=name, reason=reason)
        stored = _stored(connection, herder, state, (since, until))
    schedule, (zone_name, zone) = state.config.get("schedule", ""), _zone(state.config)
    times = slot_times(schedule, since, until, stored.runs)
    history = replace(stored.history, now=now, empty_until=_empty_until(herder, state, stored, times))
    return SlotCalendar(
        connector=name,
        reason=None if times else _no_times(schedule),
        schedule=schedule,
        timezone=zone_name,
        since=since,
        until=until,
        reached=history.reached,
        obstacle=_obstacle(state, history.unfinished, stored.request),
        request=stored.request,
        slots=time_slots(times, history, zone),
    )


def _no_calendar(state: ConnectorState) -> str | None:
    """Return why a connector has no time slots, or ``None``."""
    if state.type is ConnectorType.SINK and state.config.get("interval.bound") == "data_interval_end":
        return None
    return "Only a sink with interval.bound=data_interval_end has time slots"


def _obstacle(state: ConnectorState, unfinished: BoundedInterval | None, request: BackfillRequest | None) -> str | None:
    schedule = state.config.get("schedule", "")
    if schedule.startswith("asset:") or schedule in ("", "none", "@none", "@once"):
        return f"Airflow has no backfill for schedule={schedule}: it needs a cron expression or a duration"
    if state.target_state is not TargetState.STARTED:
        return f"Connector {state.name} is {state.target_state.value.lower()}: resume it first"
    if unfinished is not None and unfinished.since is None:
        return f"Interval {unfinished.sequence} of the live export is not finished: a backfill waits for its end"
    if request is not None and request.done_at is None:
        return f"A backfill was requested and Airflow has not been told yet: {request.error or 'wait some seconds'}"
    return None


def _zoned(moment: datetime) -> datetime:
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError as error:
        raise BadRequestError(f"{moment.isoformat()} is beyond the calendar: give a time that UTC has") from error


def _zone(config: Mapping[str, str]) -> tuple[str, tzinfo]:
    """Return the connector's time zone and its name; UTC if it has none, or one only its plugin knows."""
    name = next((config[key].strip() for key in _ZONES if config.get(key, "").strip()), "UTC")
    try:
        return name, zone_of(name)
    except ValueError:
        return "UTC", UTC


def _no_times(schedule: str) -> str:
    if schedule.startswith("asset:"):
        return "No run has been bounded by a time yet, and only the runs of a schedule by assets define its slots"
    return "No slot of the schedule ends in this period; those of a duration begin with the first scheduled run"


def _stored(connection: Connection, herder: Herder, state: ConnectorState, times: tuple[datetime, datetime]) -> _Stored:
    name, life = state.name, state.incarnation
    since, until = times
    found = interval_history.list_bounded(connection, name, life, times, _MOST_INTERVALS)
    first = interval_history.first_bounded(connection, name, life)
    before = interval_history.time_before(connection, LoadTimeBefore(name, life, since))
    after = interval_history.first_bounded(connection, name, life, after=until)
    newest = [one.row for one in interval_history.list_intervals(connection, name, 1) if not one.row.state.is_final]
    history = SlotHistory(
        now=until,
        intervals=found,
        unfinished=_bounded(newest[0]) if newest else None,
        reached=interval_history.time_before(connection, LoadTimeBefore(name, life, _EVER)),
        first=None if first is None else first.bound_time,
        is_whole=life == 1 and interval_history.oldest(connection, name) == (1, 1),
        reads_all=_reads_all(herder, state),
    )
    scheduled = {one.bound_time for one in found if one.since is None and not one.run_id.startswith(_MANUAL)}
    around = {moment for moment in (before, None if after is None else after.bound_time) if moment is not None}
    stored = offsets.sink_positions(offsets.load(connection, name, state.type))
    return _Stored(history, sorted(scheduled | around), stored, _request(connection, name))


def _bounded(row: IntervalRow) -> BoundedInterval | None:
    if row.bound_time is None:
        return None
    return BoundedInterval(row.key.sequence, row.state, row.bound_time, row.since)


def _reads_all(herder: Herder, state: ConnectorState) -> bool:
    """Return whether the connector began at the beginning of its topics."""
    own = state.config.get("consumer.override.auto.offset.reset")
    return (own or herder.worker.with_prefix("consumer.").get("auto.offset.reset", "earliest")) == "earliest"


def _request(connection: Connection, name: str) -> BackfillRequest | None:
    found = requests.latest(connection, "backfill", name)
    if found is None:
        return None
    detail = found.asked.detail
    first, last = (datetime.fromisoformat(str(detail[key])) for key in ("first", "last"))
    return BackfillRequest(first, last, found.asked.actor, found.asked_at, found.done_at, found.error)


def _empty_until(herder: Herder, state: ConnectorState, stored: _Stored, times: Sequence[SlotTime]) -> datetime | None:
    """Return the end of the last slot before whose end Kafka has nothing to export; ``None`` if that is not known.

    A run that finds no record leaves no interval: its slot would look as if it was missing.
    """
    reached = stored.history.reached
    ends = [time.end for time in times if reached is None or time.end > reached]
    topics = {*topics_of(state.config), *(part.topic for part in stored.positions)}
    if herder.ends is None or not ends or not topics:
        return None
    known = {part: end for part, end in herder.ends.known(topics).items() if part.topic in topics}
    if topics - {part.topic for part in known}:
        return None
    lags = [one for one in behind(stored.positions, known) if one.lag]
    waiting = {TopicPartition(one.topic, one.partition): one.position for one in lags}
    reader = herder.ends.reader

    def has_records(before: datetime) -> bool:
        firsts = reader.first_offsets(list(waiting), millis_of(before))
        return any(firsts[part] != position for part, position in waiting.items())

    try:
        number = bisect_left(ends, True, key=has_records) if waiting else len(ends)
    except ConnectError:
        return None
    return ends[number - 1] if number else None
