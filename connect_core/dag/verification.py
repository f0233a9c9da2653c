"""The DAG that recounts what all sinks have written, on the schedule of the worker's ``verification.schedule``."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException
from airflow.sdk import DAG, BaseOperator

from connect_core.dag.naming import VERIFICATION_DAG_ID
from connect_core.dag.schedule import Schedule, parse_schedule
from connect_core.dag.wiring import opened_herder
from connect_core.errors import ConfigError, ConnectError, NotFoundError
from connect_core.interval.values import ConnectorType
from connect_core.store import connectors

if TYPE_CHECKING:
    from airflow.sdk import Context

    from connect_core.herder.context import Herder
    from connect_core.herder.verification import Verification

__all__ = ["Recount", "VerifyOperator", "recount_sinks", "verification_dag"]

_LOG = logging.getLogger(__name__)
_SHOWN = 5
_DOCUMENTATION = """### Verification of connect-core's sinks

Its task `verify` does for every sink, one after the other, what `connect verify NAME` does: it recounts what the sink
has written, from the newest interval back, for at most `verification.timeout.ms` each. It only reads. It fails, and is
not tried again, when something differs; its log lists the differences. Its return value says how many sinks were
recounted, which of them not to the end, and which cannot be recounted.
"""


@dataclass(slots=True)
class Recount:
    """What a verification of all sinks came to: names by outcome. ``different``: name → its first differences."""

    verified: list[str] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)
    not_recountable: list[str] = field(default_factory=list)
    different: dict[str, str] = field(default_factory=dict)
    unanswered: dict[str, str] = field(default_factory=dict)

    def add(self, found: Verification) -> None:
        """Sort a result in."""
        name = found.connector
        if not found.is_recountable:
            self.not_recountable.append(name)
        elif found.difference_count:
            self.different[name] = _differences(found)
        elif found.is_complete:
            self.verified.append(name)
        else:
            self.incomplete.append(name)


class VerifyOperator(BaseOperator):
    """Recount all sinks."""

    def execute(self, context: Context) -> dict[str, Any]:
        """Return how many were recounted. Raises AirflowFailException on differences."""
        with opened_herder("verification") as herder:
            done = recount_sinks(herder, herder.worker.values["verification.timeout.ms"] / 1000)
        if done.different:
            raise AirflowFailException(_told("Sinks that differ from what they should have written", done.different))
        if done.unanswered:
            raise AirflowException(_told("Sinks that could not be recounted", done.unanswered))
        return {
            "verified": len(done.verified),
            "incomplete": done.incomplete,
            "not recountable": done.not_recountable,
        }


def recount_sinks(herder: Herder, seconds: float) -> Recount:
    """Recount every sink for at most ``seconds`` each; what differs or does not answer holds up no other."""
    # It imports Kafka's client, which would slow down parsing the DAG file.
    from connect_core.herder.verification import VerificationRequest, verify

    with herder.database.read() as connection:
        names = connectors.list_names(connection, ConnectorType.SINK)
    done = Recount()
    for name in names:
        try:
            found = verify(herder, name, VerificationRequest(seconds=seconds))
        except NotFoundError:
            continue  # Deleted meanwhile.
        except ConnectError as error:
            _LOG.warning("%s could not be recounted: %s", name, error)
            done.unanswered[name] = str(error)
            continue
        _log(found)
        done.add(found)
    return done


def verification_dag(text: str, start_date: datetime) -> DAG:
    """Return the DAG ``connect_verification``; with a schedule that cannot be read, it runs only when triggered."""
    schedule, remark = _readable(text)
    with DAG(
        dag_id=VERIFICATION_DAG_ID,
        description="Recounts what all sinks have written",
        doc_md=_DOCUMENTATION + remark,
        schedule=schedule,
        start_date=start_date,
        catchup=False,
        max_active_runs=1,
        is_paused_upon_creation=False,
    ) as dag:
        VerifyOperator(task_id="verify", retries=1)
    return dag


def _readable(text: str) -> tuple[Schedule, str]:
    try:
        return parse_schedule(text), ""
    except ConfigError as error:
        _LOG.warning("verification.schedule: %s", error)
        return None, f"\n\n`verification.schedule` cannot be read, so it runs only when triggered: {error}\n"


def _log(found: Verification) -> None:
    if not found.is_recountable:
        _LOG.info("%s", found.reason)
        return
    end = "" if found.is_complete else "; the time ran out before all were recounted"
    _LOG.info("%s: %d intervals, %d rows recounted%s", found.connector, found.intervals, found.found, end)
    for one in found.differences:
        _LOG.error("%s: %s %s: %s, found %s", found.connector, one.kind, one.place, one.said, one.found)


def _differences(found: Verification) -> str:
    first = [f"{one.kind} {one.place}" for one in found.differences[:_SHOWN]]
    more = found.difference_count - len(first)
    return ", ".join(first) + (f" and {more} more" if more > 0 else "")


def _told(what: str, found: dict[str, str]) -> str:
    shown = [f"{name}: {text}" for name, text in sorted(found.items())[:_SHOWN]]
    more = f" … and {len(found) - _SHOWN} more, see the log" if len(found) > _SHOWN else ""
    return f"{what}: {len(found)}. {'; '.join(shown)}{more}"
