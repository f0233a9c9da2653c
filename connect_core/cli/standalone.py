"""``connect standalone``: connectors in one process, without Airflow."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from connect_core.cli.options import rest_options
from connect_core.configs import ConnectorFile, load_worker, providers_of, read_connector_file
from connect_core.effects.closed_topics import closed_topics
from connect_core.errors import ConnectError
from connect_core.herder.connectors import NewConnector, create, put_config
from connect_core.herder.context import Herder
from connect_core.herder.observer import Observer
from connect_core.herder.rewriting import rewrite_offsets
from connect_core.herder.topic_ends import TopicEnds
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.clients import KafkaClients
from connect_core.rest import (
    LoopbackAuthorizer,
    RestServer,
    check_listeners,
    create_app,
    serve_in_thread,
)
from connect_core.settings import WorkerMode
from connect_core.standalone.stopping import Stopping, end_process
from connect_core.standalone.worker import StandaloneWorker, open_standalone
from connect_core.store import connectors

__all__ = ["herder_of", "standalone"]

_LOG = logging.getLogger(__name__)
_ANSWER_SECONDS = 2.0


def standalone(
    worker: Annotated[Path, typer.Argument(help="The worker's settings, as Kafka's connect-standalone.properties.")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="CONNECTOR…", help="Connectors: .properties, or .json as for POST /connectors."),
    ] = None,
) -> None:
    """Run connectors in this process until Ctrl-C or SIGTERM; what is done by then is committed.

    It ends within 15 s, or at once on a second signal: with 0 if
    every connector reached a commit point, else with 1.
    """
    logging.basicConfig(level=logging.INFO, format="[%(asctime)s] %(levelname)s %(message)s (%(name)s)")
    for noisy in ("alembic", "py4j"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    wanted = [read_connector_file(file) for file in files or ()]
    stopping = Stopping()
    stopping.listen()
    opened = open_standalone(load_worker(worker, os.environ, WorkerMode.STANDALONE))
    server: RestServer | None = None
    try:
        for one in wanted:
            _deploy(opened, one)
        opened.deploy_all()
        server = _serve(opened)
        _LOG.info("Kafka Connect worker started: %d connectors", len(wanted))
        stopping.asked.wait()
        _LOG.info("Kafka Connect stopping: every connector ends at its next commit point")
    finally:
        opened.ask_to_stop()
        if server is not None:
            server.stop(_ANSWER_SECONDS)
        ended = opened.stop()
    # Do not wait for anything that is left, such as a Spark session that is still starting.
    end_process(0 if ended else 1)


def _deploy(opened: StandaloneWorker, wanted: ConnectorFile) -> None:
    """Create the connector, or reconfigure it if it is stored already. Raise BadRequestError."""
    herder = herder_of(opened)
    with opened.database.read() as connection:
        is_known = connectors.find(connection, wanted.name) is not None
    if is_known:
        put_config(herder, wanted.name, wanted.config)
    else:
        create(herder, NewConnector(wanted.name, wanted.config, wanted.initial_state))
    _LOG.info("Created connector %s", wanted.name)


def herder_of(opened: StandaloneWorker, actor: str = "", ends: TopicEnds | None = None) -> Herder:
    """Return a herder over a standalone worker that acts on behalf of ``actor``."""
    providers = providers_of(opened.settings, os.environ)
    return Herder(opened.database, opened.settings, opened.scheduler, rewrite_offsets, providers, actor, ends)


def _serve(opened: StandaloneWorker) -> RestServer | None:
    """Serve the REST API; if its port is taken, the connectors run without it. Raise ConfigError."""
    authorizer = LoopbackAuthorizer()
    check_listeners(opened.settings.listeners)
    closed = closed_topics(opened.settings, opened.database)
    ends = TopicEnds(KafkaAdmin(KafkaClients(opened.settings.resolved), closed))
    Observer(opened.database, ends).start()
    options = replace(rest_options(opened.settings), deployment="standalone")
    app = create_app(partial(herder_of, opened, ends=ends), authorizer, options)
    try:
        return serve_in_thread(app, opened.settings.listeners[0])
    except ConnectError as error:
        _LOG.warning("%s. The connectors run without it.", error)
        return None
