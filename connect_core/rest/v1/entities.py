"""Request bodies of ``/v1``, and responses of the API itself; all other responses are values of the herder.

Times are ISO 8601 in UTC, durations in seconds. Secrets are hidden in all
responses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from connect_core.herder.offsets import ConnectorOffset

__all__ = ["OffsetsPreviewRequest", "RewindRequest", "RunStarted", "WorkerInfo"]


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """How the API is deployed. ``airflow_url`` is Airflow's address for browsers, if known."""

    deployment: Literal["airflow", "rest", "standalone"]
    version: str
    user: str
    airflow_url: str | None


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run was requested; ``run_id`` is null if it is not known yet."""

    run_id: str | None


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RewindRequest(_Request):
    """``to``: the number of the first interval to read again."""

    to: int = Field(ge=1)


class OffsetsPreviewRequest(_Request):
    """Exactly one of: ``to``, the interval to rewind to; ``reset``, to forget all offsets; ``offsets`` as for PATCH."""

    to: int | None = Field(default=None, ge=1)
    reset: bool = False
    offsets: list[ConnectorOffset] | None = None
