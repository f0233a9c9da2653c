"""Request bodies of ``/v1``, and responses of the API itself; all other responses are values of the herder.

Times are ISO 8601 in UTC, durations in seconds. Secrets are hidden in all
responses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, SecretStr

from connect_core.herder.offsets import ConnectorOffset
from connect_core.migration.importing import CONVERTERS

__all__ = [
    "BackfillPeriod",
    "ClusterRequest",
    "ImportRequest",
    "OffsetsPreviewRequest",
    "ReportRequest",
    "RewindRequest",
    "RunStarted",
    "SwitchRequest",
    "WorkerInfo",
]


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


class BackfillPeriod(_Request):
    """The time to export again: the slots that begin at ``from`` or later and end by ``to``; ISO 8601 with a zone."""

    start: AwareDatetime = Field(alias="from")
    end: AwareDatetime = Field(alias="to")


class OffsetsPreviewRequest(_Request):
    """Exactly one of: ``to``, the interval to rewind to; ``reset``, to forget all offsets; ``offsets`` as for PATCH."""

    to: int | None = Field(default=None, ge=1)
    reset: bool = False
    offsets: list[ConnectorOffset] | None = None


def _of_converters(given: dict[str, str]) -> dict[str, str]:
    for key in given:
        if not any(key == one or key.startswith(f"{one}.") for one in CONVERTERS):
            raise ValueError(f"{key[:100]} is not a setting of {', '.join(CONVERTERS)}")
    return given


Url = Annotated[str, Field(min_length=1, max_length=2000)]
ConnectorName = Annotated[str, Field(min_length=1, max_length=1000)]
Converters = Annotated[dict[str, str], Field(max_length=200), AfterValidator(_of_converters)]


class ClusterRequest(_Request):
    """The login at a Kafka Connect cluster; ``ca``: certificates in PEM that vouch for it."""

    user: str | None = Field(default=None, min_length=1, max_length=500)
    password: SecretStr = Field(default=SecretStr(""), max_length=5000)
    ca: str | None = Field(default=None, min_length=1, max_length=100_000)


class ReportRequest(ClusterRequest):
    """``names``: only these; ``after``: the ``next`` of the response before.

    ``converters``: ``key.converter``, ``value.converter`` and ``header.converter`` of the cluster's workers, with their
    settings. Ends after ``seconds``, complete or not.
    """

    url: Url
    names: list[ConnectorName] | None = Field(default=None, min_length=1, max_length=1000)
    after: ConnectorName | None = None
    converters: Converters = {}
    seconds: float = Field(default=10.0, gt=0, le=60)


class ImportRequest(ClusterRequest):
    """``converters`` as in a report."""

    url: Url
    converters: Converters = {}


class SwitchRequest(ClusterRequest):
    """``back``: give it back to the cluster; ``url``: by default where it was imported from.

    No step begins after ``seconds``; with 0 both sides are only looked at.
    """

    url: Url | None = None
    back: bool = False
    seconds: float = Field(default=10.0, ge=0, le=60)
