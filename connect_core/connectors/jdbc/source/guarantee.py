"""The guarantee of a source, and its condition on the writers of the rows."""

from __future__ import annotations

from connect_core.api.guarantee import Atomicity, Delivery, Guarantee
from connect_core.connectors.jdbc.address import parse_address
from connect_core.connectors.jdbc.source.config import LATE_WINDOW, TIMESTAMP_DELAY, Mode, SourceSettings

__all__ = ["guarantee_of"]


def guarantee_of(settings: SourceSettings) -> Guarantee:
    """Return the guarantee of one configuration: exactly-once wherever its condition can be met."""
    if settings.mode is Mode.BULK:
        if settings.query:
            return Guarantee(Delivery.AT_LEAST_ONCE, atomicity=Atomicity.TRANSACTION)
        condition = "if each table has a primary key; without one, an interrupted read starts over"
        return Guarantee(Delivery.EXACTLY_ONCE, atomicity=Atomicity.TRANSACTION, condition=condition)
    delivery, condition = (Delivery.EXACTLY_ONCE, "") if _has_horizon(settings) else _by_time(settings)
    return Guarantee(delivery, atomicity=Atomicity.TRANSACTION, condition=condition)


def _has_horizon(settings: SourceSettings) -> bool:
    """Return whether all rows are of PostgreSQL's tables, where running transactions are known."""
    is_postgresql = parse_address(settings.connection.url).dialect == "postgresql"
    return is_postgresql and not settings.query and settings.selection.types == {"TABLE"}


def _by_time(settings: SourceSettings) -> tuple[Delivery, str]:
    if settings.mode is Mode.INCREMENTING:
        if not settings.late_window:
            return (
                Delivery.AT_MOST_ONCE,
                f"rows that commit later than one of a higher number are lost ({LATE_WINDOW}=0)",
            )
        return Delivery.EXACTLY_ONCE, (
            f"if a row commits within {settings.late_window:g} s ({LATE_WINDOW}) of one of a higher number, "
            "and at most 500 ranges of numbers are left out at a time"
        )
    delay = settings.delay_of(has_xmin=False)
    if not delay:
        lost = "rows that commit with a timestamp at or before one already read are lost"
        return Delivery.AT_MOST_ONCE, f"{lost} ({TIMESTAMP_DELAY}=0)"
    return Delivery.EXACTLY_ONCE, (
        f"if a row commits within {delay:g} s ({TIMESTAMP_DELAY}) of its timestamp, by the database's clock"
    )
