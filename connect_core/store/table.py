"""What the tables of the metadata database have in common."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import BigInteger, Enum, Integer, MetaData
from sqlalchemy.orm import DeclarativeBase

from connect_core.interval.values import ConnectorType, IntervalState, TargetState, TaskOutcome
from connect_core.store.types import FreeText, JsonText, Moment

__all__ = ["METADATA", "NUMBER", "Table"]

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

NUMBER = BigInteger().with_variant(Integer(), "sqlite")


def _word(enum: type[Any]) -> Enum:
    return Enum(enum, native_enum=False, length=16, values_callable=lambda members: [one.value for one in members])


class Table(DeclarativeBase):
    """What all tables have in common: their metadata, and which type a Python type is stored as."""

    metadata = METADATA
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: Moment(),
        dict[str, Any]: JsonText(),
        list[Any]: JsonText(),
        str: FreeText(),
        ConnectorType: _word(ConnectorType),
        TargetState: _word(TargetState),
        IntervalState: _word(IntervalState),
        TaskOutcome: _word(TaskOutcome),
    }
