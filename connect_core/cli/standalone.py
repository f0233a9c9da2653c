"""``connect standalone``: connectors in one process, without Airflow."""

from __future__ import annotations

import logging
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from connect_core.errors import MissingLibraryError
from connect_core.standalone.session import ProcessSession
from connect_core.standalone.stopping import Stopping

__all__ = ["standalone"]


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
    stopping, session = Stopping(), ProcessSession()
    stopping.listen()
    # What takes longest begins first: the JVM starts while this process imports, opens and serves the rest.
    session.begin()
    try:
        run = import_module("connect_core.cli.standalone_worker").run
    except ModuleNotFoundError as error:
        raise MissingLibraryError((error.name or "").partition(".")[0], "standalone") from error
    run(worker, files or (), stopping, session)
