"""What ``/v1`` takes, and answers of the API itself; all other answers are the herder's own values.

Times are ISO 8601 in UTC, durations in seconds. Everything a caller reads here
has its secrets hidden.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from connect_core.herder.intervals import SourceOffset

__all__ = ["OffsetsPreviewRequest", "RewindRequest", "RunStarted", "WorkerInfo"]


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """How the API is deployed. ``airflow_url`` is where a browser reaches Airflow, if known."""

    deployment: Literal["airflow", "rest", "standalone"]
    version: str
    user: str
    airflow_url: str | None


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run was asked for; ``run_id`` is null where it is not known yet."""

    run_id: str | None


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RewindRequest(_Request):
    """``to``: the number of the first interval whose data is to be read again."""

    to: int = Field(ge=1)


class OffsetsPreviewRequest(_Request):
    """Exactly one of: the interval to rewind to, all offsets forgotten, offsets as for PATCH."""

    to: int | None = Field(default=None, ge=1)
    reset: bool = False
    offsets: list[SourceOffset] | None = None
