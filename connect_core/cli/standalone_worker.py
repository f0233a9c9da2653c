"""What ``connect standalone`` does once Spark is starting: opens the worker, creates connectors, serves REST."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

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
from connect_core.spark.class_archive import write_archive_later
from connect_core.standalone.session import ProcessSession
from connect_core.standalone.stopping import Stopping, end_process
from connect_core.standalone.worker import StandaloneWorker, open_standalone
from connect_core.store import connectors

__all__ = ["herder_of", "run"]

_LOG = logging.getLogger(__name__)
_ANSWER_SECONDS = 2.0
_ARCHIVE_AFTER_SECONDS = 60.0


def run(worker: Path, files: Sequence[Path], stopping: Stopping, session: ProcessSession) -> None:
    """Run the connectors of ``files`` and those stored, until asked to stop; ends the process. Raise ConnectError."""
    wanted = [read_connector_file(file) for file in files]
    opened = open_standalone(load_worker(worker, os.environ, WorkerMode.STANDALONE), session)
    server: RestServer | None = None
    try:
        for one in wanted:
            _deploy(opened, one)
        opened.deploy_all()
        server = _serve(opened)
        _LOG.info("Kafka Connect worker started: %d connectors", len(wanted))
        write_archive_later(stopping.asked, _ARCHIVE_AFTER_SECONDS)
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
