"""The example connectors of ``connect quickstart``: files of config/connectors, deployed through the herder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from connect_core.configs import ConnectorFile, read_connector_file
from connect_core.dev.home import Home
from connect_core.dev.ports import has_port
from connect_core.dev.shop import Shop
from connect_core.errors import ConnectError
from connect_core.herder.connectors import NewConnector, create, get_config, list_names, put_config
from connect_core.herder.context import Herder
from connect_core.herder.lifecycle import RestartRequest, restart, resume
from connect_core.herder.status import ConnectorStatus, State, TaskStatus, get_status

__all__ = [
    "EXPORT",
    "HOURLY",
    "LINES",
    "SHOP_COPIES",
    "SHOP_ORDERS",
    "SHOP_PARQUET",
    "SOURCE",
    "deploy",
    "failure_of",
    "load_example",
    "load_examples",
    "output_path",
    "with_registry",
]

SOURCE = "broker-log.properties"
EXPORT = "parquet-export.json"
LINES = "text-export.json"
SHOP_ORDERS = "shop-orders.properties"
SHOP_COPIES = "shop-copies.properties"
SHOP_PARQUET = "shop-parquet.properties"
HOURLY = "visits-hourly.properties"
_FILES = (SOURCE, EXPORT, LINES, SHOP_ORDERS, SHOP_COPIES, SHOP_PARQUET)
_SHOP = (SHOP_ORDERS, SHOP_COPIES, SHOP_PARQUET)
_AVRO = {
    "value.converter": "io.confluent.connect.avro.AvroConverter",
    "value.converter.schema.registry.url": "${env:CONNECT_SCHEMA_REGISTRY_URL}",
}
_JSON_ONLY = "value.converter.schemas.enable"
_PATHS = ("file", "path")
_ADDRESS = "connection.url"


def load_examples(home: Home) -> dict[str, ConnectorFile]:
    """Return the examples by file name, sources before their sinks. Raise ConnectError if one is missing."""
    return {name: load_example(home, name) for name in _FILES}


def load_example(home: Home, name: str) -> ConnectorFile:
    """Return one example. Raise ConnectError if it is missing."""
    return _located(read_connector_file(_file(home, name)), home)


def with_registry(examples: Mapping[str, ConnectorFile]) -> dict[str, ConnectorFile]:
    """Send the shop's orders as Avro, through a separate topic: the usual one may hold JSON of an earlier start."""
    return {name: _as_avro(example) if name in _SHOP else example for name, example in examples.items()}


def _as_avro(example: ConnectorFile) -> ConnectorFile:
    config = {key: value for key, value in example.config.items() if key != _JSON_ONLY} | _AVRO
    moved = {"topic.prefix": "shop-avro-"} if "topic.prefix" in config else {"topics": "shop-avro-orders"}
    return replace(example, config=config | moved)


def _file(home: Home, name: str) -> Path:
    file = home.setting(f"connectors/{name}")
    if file is None:
        raise ConnectError(f"config/connectors/{name} is missing: restore it from the distribution.")
    return file


def _located(example: ConnectorFile, home: Home) -> ConnectorFile:
    """Set the connection URL to that of the stack's database, where the example has one."""
    if _ADDRESS not in example.config or not has_port(home, "postgres"):
        return example
    return replace(example, config={**example.config, _ADDRESS: Shop(home).address})


def output_path(example: ConnectorFile, home: Home) -> Path:
    """Return the file or folder that an example names: its output, or the log it reads."""
    return home.data / next(example.config[key] for key in _PATHS if key in example.config)


def deploy(herder: Herder, example: ConnectorFile) -> str:
    """Create, reconfigure, resume or restart a connector as needed to run its file → what was done, in a word.

    Raise BadRequestError if the configuration is refused.
    """
    name = example.name
    if name not in list_names(herder):
        create(herder, NewConnector(name, example.config, example.initial_state))
        return "created"
    if get_config(herder, name) != dict(example.config):
        put_config(herder, name, example.config)
        return "reconfigured"
    status = get_status(herder, name)
    if status.connector.state in (State.PAUSED, State.STOPPED):
        resume(herder, name)
        return "resumed"
    if failure_of(status) is not None:
        restart(herder, name, RestartRequest(only_failed=True, include_tasks=True))
        return "restarted"
    return "there already"


def failure_of(status: ConnectorStatus) -> str | None:
    """Return a description of what has failed, with its trace; ``None`` if nothing has."""
    for part in (status.connector, *status.tasks):
        if part.state is State.FAILED:
            task = f"Task {part.task} of connector" if isinstance(part, TaskStatus) else "Connector"
            return f"{task} {status.name} is FAILED: {(part.trace or 'no trace was kept').strip()}"
    return None
