"""Recounting what a sink has written."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from connect_core.herder import verification
from connect_core.herder.verification import Verification, VerificationRequest
from connect_core.rest.access import Editor
from connect_core.rest.answers import answer
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.routes.parameters import Name

__all__ = ["router", "verify"]

_LARGEST = 2**63 - 1

router = APIRouter(prefix="/v1/connectors/{connector}", route_class=ConnectRoute, tags=["beyond Connect"])

First = Annotated[int, Query(alias="from", ge=1, le=_LARGEST, description="The first interval to recount")]
Last = Annotated[int | None, Query(alias="to", ge=1, le=_LARGEST, description="The last one; by default, the newest")]
Seconds = Annotated[float, Query(gt=0, le=100, description="When to stop, even if incomplete")]


@router.post("/verify", summary="Recount what a sink has written; changes nothing", response_model=Verification)
def verify(connector: Name, herder: Editor, first: First = 1, last: Last = None, seconds: Seconds = 30.0) -> Response:
    """Compare markers, target, database and Kafka, and return the differences."""
    return answer(verification.verify(herder, connector, VerificationRequest(first, last, seconds)))
