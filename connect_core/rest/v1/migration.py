"""Moving connectors from a Kafka Connect cluster: the report, the import, and the switch there and back.

A caller names the cluster and sends its login with each request. It is used for that request only: it is neither
stored nor logged, and no message repeats it. Each request does a bounded part of the work (``migration/rounds.py``).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from connect_core.errors import BadRequestError, ConfigError
from connect_core.herder.context import Herder
from connect_core.java.strings import trim
from connect_core.migration import rounds
from connect_core.migration.cluster import Tls, open_bounded_api
from connect_core.migration.connect_api import ConnectApi
from connect_core.migration.importing import Imported, Outcome
from connect_core.migration.rounds import ImportReport, Moved, ReportWanted, SwitchRound
from connect_core.migration.switching import Switch
from connect_core.migration.transport import Bounds
from connect_core.rest.access import Administrator, Creator, Editor, Reader, ensure_allowed, ensure_settings_allowed
from connect_core.rest.answers import answer
from connect_core.rest.entities import Body
from connect_core.rest.negotiation import ConnectRoute
from connect_core.rest.openapi_extra import request_body
from connect_core.rest.routes.parameters import Name
from connect_core.rest.v1.entities import ClusterRequest, ImportRequest, ReportRequest, SwitchRequest
from connect_core.rest.v1.parameters import checked

__all__ = ["get_switch", "import_connector", "report", "router", "switch"]

router = APIRouter(prefix="/v1", route_class=ConnectRoute, tags=["beyond Connect"])

_CALLS_SECONDS = 90.0
"""When all calls of a request are over, whatever they wait for: a gateway waits 120 s for it."""


def _report_wanted(body: Body) -> ReportRequest:
    return checked(ReportRequest, body)


def _import_wanted(body: Body) -> ImportRequest:
    return checked(ImportRequest, body)


def _switch_wanted(body: Body) -> SwitchRequest:
    return checked(SwitchRequest, body)


@router.post(
    "/import/report",
    summary="Report on importing a Kafka Connect cluster's connectors; changes nothing",
    response_model=ImportReport,
    openapi_extra=request_body(ReportRequest),
)
def report(
    request: Request, herder: Administrator, wanted: Annotated[ReportRequest, Depends(_report_wanted)]
) -> Response:
    """Report connectors in the order of their names until ``seconds`` are over; ask again with ``after``."""
    which = ReportWanted(wanted.names, wanted.after or "", wanted.converters)
    with _opened(request, herder, wanted, wanted.url) as api:
        return answer(rounds.report_round(herder, api, which, wanted.seconds))


@router.post(
    "/connectors/{connector}/import",
    summary="Create a Kafka Connect cluster's connector here, STOPPED, with its offsets",
    response_model=Imported,
    responses={201: {"model": Imported, "description": "The connector is new"}},
    openapi_extra=request_body(ImportRequest),
)
def import_connector(
    request: Request, connector: Name, herder: Creator, wanted: Annotated[ImportRequest, Depends(_import_wanted)]
) -> Response:
    """Import one connector; a second call changes nothing. Requires the rights to create it and to change it."""
    # An existing one is compared with the cluster's, secrets included.
    ensure_allowed(request, "PUT", connector)
    if trim(connector) != connector:
        raise BadRequestError(f'No connector has spaces around its name: "{connector}"')
    with _opened(request, herder, wanted, wanted.url) as api:
        done = rounds.import_connector(
            herder,
            api,
            connector,
            wanted.converters,
            lambda found: ensure_settings_allowed(request, herder, connector, found.config),
        )
    return answer(done, 201 if done.outcome is Outcome.CREATED else 200)


@router.get(
    "/connectors/{connector}/switch",
    summary="Where a connector was imported from, and where it runs",
    response_model=Moved,
)
def get_switch(connector: Name, herder: Reader) -> Response:
    """Return what is stored of its import and of a switch in progress; the cluster is not asked."""
    return answer(rounds.moved(herder, connector))


@router.post(
    "/connectors/{connector}/switch",
    summary="Move an imported connector here, or back, working for some seconds; repeat the call until nothing is left",
    response_model=SwitchRound,
    openapi_extra=request_body(SwitchRequest),
)
def switch(
    request: Request, connector: Name, herder: Editor, wanted: Annotated[SwitchRequest, Depends(_switch_wanted)]
) -> Response:
    """Carry out the next steps; none begins after ``seconds``. With 0 seconds both sides are looked at only."""
    until = time.monotonic() + wanted.seconds
    url = wanted.url or rounds.moved(herder, connector).url
    if url is None:
        raise BadRequestError(f"{connector} was not imported: import it, or give the url of its cluster")
    with _opened(request, herder, wanted, url) as api:
        return answer(rounds.switch_round(Switch(herder, api, connector, wanted.back, wanted.seconds, until)))


@contextmanager
def _opened(request: Request, herder: Herder, wanted: ClusterRequest, url: str) -> Iterator[ConnectApi]:
    """Open the cluster for a block. Raise BadRequestError for an address that is wrong, or may not be called."""
    login = None if wanted.user is None else (wanted.user, wanted.password.get_secret_value())
    bounds = Bounds(herder.worker.limits(), time.monotonic() + _CALLS_SECONDS)
    with request.app.state.cluster_calls.place():
        try:
            with open_bounded_api(url, bounds, login, Tls(ca_text=wanted.ca)) as api:
                yield api
        except ConfigError as error:
            raise BadRequestError(str(error)) from error
