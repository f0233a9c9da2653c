"""Kafka Connect's REST API over the herder: one application, three deployments."""

from connect_core.rest.app import RestOptions, create_app
from connect_core.rest.auth import Authorizer, Caller, LoopbackAuthorizer, Method
from connect_core.rest.gateway import Gateway
from connect_core.rest.headers import parse_rules
from connect_core.rest.links import Links
from connect_core.rest.server import RestServer, check_listeners, serve, serve_in_thread

__all__ = [
    "Authorizer",
    "Caller",
    "Gateway",
    "Links",
    "LoopbackAuthorizer",
    "Method",
    "RestOptions",
    "RestServer",
    "check_listeners",
    "create_app",
    "parse_rules",
    "serve",
    "serve_in_thread",
]
