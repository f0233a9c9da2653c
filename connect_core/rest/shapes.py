"""Connect's own request and answer bodies, for OpenAPI alone: the routes read and write them by hand."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, RootModel

from connect_core.herder.connectors import ConnectorInfo
from connect_core.herder.status import State

__all__ = [
    "Config",
    "ConfigInfo",
    "ConfigInfos",
    "ConfigKeyInfo",
    "ConfigValueInfo",
    "ConnectorOffset",
    "ConnectorOffsets",
    "ConnectorStateInfo",
    "Connectors",
    "CreateConnectorRequest",
    "ErrorMessage",
    "Expanded",
    "LoggerLevel",
    "LoggerLevels",
    "Message",
    "PartState",
    "PluginInfo",
    "ServerInfo",
    "SetLevel",
    "TaskState",
    "Topics",
    "TopicsByConnector",
    "WorkerStatus",
]


class Config(RootModel[dict[str, str | int | float | bool | None]]):
    """Settings by name; numbers and booleans become text."""


class CreateConnectorRequest(BaseModel):
    """What POST /connectors takes."""

    name: str
    config: dict[str, str | int | float | bool | None]
    initial_state: Literal["RUNNING", "PAUSED", "STOPPED"] | None = None


class PartState(BaseModel):
    """The state of a connector itself."""

    state: State
    worker_id: str
    version: str | None = None
    trace: str | None = None


class TaskState(PartState):
    """The state of one task."""

    id: int


class ConnectorStateInfo(BaseModel):
    """The state of a connector and of its tasks."""

    name: str
    connector: PartState
    tasks: list[TaskState]
    type: Literal["source", "sink"]


class Expanded(BaseModel):
    """One connector of an expanded list."""

    status: ConnectorStateInfo | None = None
    info: ConnectorInfo | None = None


class Connectors(RootModel[list[str] | dict[str, Expanded]]):
    """Names; with ``expand`` a map by name."""


class ConnectorOffset(BaseModel):
    """One partition and how far it has been read; an offset of null forgets the partition."""

    partition: dict[str, Any] | None
    offset: dict[str, Any] | None


class ConnectorOffsets(BaseModel):
    """Offsets of a connector."""

    offsets: list[ConnectorOffset]


class Message(BaseModel):
    """What was done."""

    message: str


class ErrorMessage(BaseModel):
    """Why a request was not served."""

    error_code: int
    message: str


class PluginInfo(BaseModel):
    """An installed plugin."""

    model_config = {"populate_by_name": True}

    plugin: str = Field(alias="class")
    type: str
    version: str


class ConfigKeyInfo(BaseModel):
    """The definition of a setting."""

    name: str
    type: str
    required: bool
    default_value: str | None
    importance: str
    documentation: str
    group: str | None
    width: str
    display_name: str
    dependents: list[str]
    order: int


class ConfigValueInfo(BaseModel):
    """A setting's value, what is wrong about it and what is recommended."""

    name: str
    value: str | None
    recommended_values: list[str]
    errors: list[str]
    visible: bool


class ConfigInfo(BaseModel):
    """A setting: its definition and its value."""

    definition: ConfigKeyInfo | None
    value: ConfigValueInfo | None


class ConfigInfos(BaseModel):
    """Every setting of a configuration with what is wrong about it."""

    name: str
    error_count: int
    groups: list[str]
    configs: list[ConfigInfo]


class LoggerLevel(BaseModel):
    """A logger's level, and when it was set here in Unix milliseconds."""

    level: str
    last_modified: int | None


class LoggerLevels(RootModel[dict[str, LoggerLevel]]):
    """Loggers by name."""


class SetLevel(BaseModel):
    """The level to set."""

    level: str


class Topics(BaseModel):
    """Topics a connector has used."""

    topics: list[str]


class TopicsByConnector(RootModel[dict[str, Topics]]):
    """Topics by the connector's name."""


class ServerInfo(BaseModel):
    """Which worker this is."""

    version: str
    commit: str
    kafka_cluster_id: str


class WorkerStatus(BaseModel):
    """Whether the worker can serve."""

    status: Literal["healthy", "unhealthy", "starting"]
    message: str
