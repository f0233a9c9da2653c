"""The application: all routes, behind one authorizer, over the herder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from fastapi import FastAPI

from connect_core.herder.context import Herder
from connect_core.registry import KAFKA_VERSION
from connect_core.rest.address import AddressMiddleware
from connect_core.rest.auth import AuthMiddleware, Authorizer
from connect_core.rest.cluster_calls import ClusterCalls
from connect_core.rest.errors import install_handlers
from connect_core.rest.headers import HeaderRule, HeadersMiddleware
from connect_core.rest.links import Links
from connect_core.rest.refusals import Refusals
from connect_core.rest.routers import routes
from connect_core.rest.ui import PageMiddleware

__all__ = ["HerderFactory", "RestOptions", "create_app"]

HerderFactory = Callable[[str], Herder]
"""Returns a herder that acts on behalf of a user."""


@dataclass(frozen=True, slots=True)
class RestOptions:
    """Options that differ between the deployments.

    ``origins``: other origins whose pages may call the API, with ``methods``;
    ``headers``: added to every response; ``has_admin``: whether ``/admin`` is served.
    """

    cluster_id: Callable[[], str] = lambda: ""
    origins: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    headers: tuple[HeaderRule, ...] = ()
    has_admin: bool = True
    deployment: Literal["airflow", "rest", "standalone"] = "rest"
    links: Links = field(default_factory=Links)


def create_app(herder_factory: HerderFactory, authorizer: Authorizer, options: RestOptions | None = None) -> FastAPI:
    """Return the application, the same in Airflow, on a separate port and in a standalone worker."""
    options = options or RestOptions()
    app = FastAPI(
        title="Kafka Connect",
        description="Kafka Connect's REST API, and what connect-core adds under /v1.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        version=KAFKA_VERSION,
    )
    app.state.herder_factory = herder_factory
    app.state.authorizer = authorizer
    app.state.refusals = Refusals(herder_factory)
    app.state.cluster_calls = ClusterCalls()
    app.state.cluster_id = options.cluster_id
    app.state.deployment = options.deployment
    app.state.links = options.links
    install_handlers(app)
    app.router.routes.extend(routes(has_admin=options.has_admin))
    # The middleware added last runs first.
    app.add_middleware(AddressMiddleware)
    app.add_middleware(PageMiddleware)
    app.add_middleware(AuthMiddleware, authorizer=authorizer, origins=options.origins)
    if options.headers or options.origins:
        origins, methods = options.origins, options.methods
        app.add_middleware(HeadersMiddleware, rules=options.headers, origins=origins, methods=methods)
    return app
