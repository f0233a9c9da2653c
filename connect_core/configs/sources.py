"""Settings of sources only, and checks of what the connector supports. Connect: ``SourceConnectorConfig``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from connect_core.api.config import (
    CaseInsensitiveValidString,
    ClassResolver,
    ConfigDef,
    ConfigType,
    ConfigValue,
    Importance,
    LambdaValidator,
    NonEmptyString,
    Range,
    Width,
)
from connect_core.api.source import ConnectorTransactionBoundaries, ExactlyOnceSupport, SourceConnector
from connect_core.configs.definitions import Defaults, common_definition, unique_aliases
from connect_core.errors import ConnectError
from connect_core.settings import WorkerSettings

__all__ = ["check_source", "source_definition"]

_EXACTLY_ONCE = "Exactly Once Support"

_NOT_ENABLED = "This worker does not have exactly-once source support enabled."
_UNKNOWN_SUPPORT = (
    "The connector does not implement the API required for preflight validation of exactly-once source support. "
    "Please consult the documentation for the connector to determine whether it supports exactly-once semantics, and "
    'then consider reconfiguring the connector to use the value "requested" for this property (which will disable '
    "this preflight check and allow the connector to be created)."
)
_NO_SUPPORT = "The connector does not support exactly-once semantics with the provided configuration."
_NO_BOUNDARIES = (
    "The connector does not support connector-defined transaction boundaries with the given configuration. "
    "Please reconfigure it to use a different transaction boundary definition."
)


def source_definition(defaults: Defaults, resolve: ClassResolver) -> ConfigDef:
    """Return the settings of sources. Connect: ``SourceConnectorConfig``."""
    config = common_definition(defaults, resolve)
    config.define(
        "topic.creation.groups",
        ConfigType.LIST,
        [],
        validator=unique_aliases("topic creation groups"),
        importance=Importance.LOW,
        doc="Groups of settings for topics that the connector's records create (KIP-158).",
        group="Topic Creation",
        order=1,
        width=Width.LONG,
        display_name="Topic Creation Groups",
    )
    _transactions(config)
    config.define(
        "offsets.storage.topic",
        ConfigType.STRING,
        None,
        validator=NonEmptyString(),
        importance=Importance.LOW,
        doc="Topic for this connector's offsets, instead of the worker's.",
        group="offsets.topic",
        order=1,
        width=Width.LONG,
        display_name="Offsets topic",
    )
    return config


def check_source(
    connector: SourceConnector, config: Mapping[str, str], values: Mapping[str, ConfigValue], worker: WorkerSettings
) -> None:
    """Add the errors of a source that does not support what its settings require.

    Connect: ``DistributedHerder.validateSourceConnectorConfig``. A worker is treated
    as if ``exactly.once.source.support=enabled``, unless it sets another value.
    """
    support = values["exactly.once.support"]
    is_enabled = worker.resolved.get("exactly.once.source.support", "enabled").strip().lower() == "enabled"
    if not support.error_messages and str(support.value).upper() == "REQUIRED" and not is_enabled:
        error = _answer(lambda: _support_error(connector, config))
        support.error_messages += [_NOT_ENABLED, error] if error else [_NOT_ENABLED]
    wanted = (
        ("exactly.once.support", "REQUIRED", lambda: _support_error(connector, config)),
        ("transaction.boundary", "CONNECTOR", lambda: _boundary_error(connector, config)),
    )
    for name, option, find in wanted:
        value = values[name]
        if not value.error_messages and str(value.value).upper() == option:
            error = _answer(find)
            value.error_messages += [error] if error else []


def _support_error(connector: SourceConnector, config: Mapping[str, str]) -> str | None:
    support = connector.exactly_once_support(config)
    if support is None:
        return _UNKNOWN_SUPPORT
    return None if support is ExactlyOnceSupport.SUPPORTED else _NO_SUPPORT


def _boundary_error(connector: SourceConnector, config: Mapping[str, str]) -> str | None:
    can = connector.can_define_transaction_boundaries(config)
    return None if can is ConnectorTransactionBoundaries.SUPPORTED else _NO_BOUNDARIES


def _answer(find: Callable[[], str | None]) -> str | None:
    try:
        return find()
    except ConnectError as error:
        return f"An unexpected error occurred during validation: {error}"


def _transactions(config: ConfigDef) -> None:
    config.define(
        "exactly.once.support",
        ConfigType.STRING,
        "requested",
        validator=CaseInsensitiveValidString.one_of("required", "requested"),
        importance=Importance.MEDIUM,
        doc="required: reject the connector unless it says that it can be exactly-once; requested: do not check.",
        group=_EXACTLY_ONCE,
        order=2,
        width=Width.SHORT,
        display_name="Exactly once support",
    )
    config.define(
        "transaction.boundary",
        ConfigType.STRING,
        "poll",
        validator=CaseInsensitiveValidString.one_of("interval", "poll", "connector"),
        importance=Importance.MEDIUM,
        doc="What ends a transaction: with poll and interval, the engine; with connector, the connector's tasks.",
        group=_EXACTLY_ONCE,
        order=3,
        width=Width.SHORT,
        display_name="Transaction Boundary",
    )
    at_least_zero = Range.at_least(0)
    config.define(
        "transaction.boundary.interval.ms",
        ConfigType.LONG,
        None,
        validator=LambdaValidator(
            lambda name, value: None if value is None else at_least_zero.ensure_valid(name, value),
            lambda: str(at_least_zero),
        ),
        importance=Importance.LOW,
        doc="Longest duration of a transaction when the boundary is interval; not set: the worker's "
        "offset.flush.interval.ms.",
        group=_EXACTLY_ONCE,
        order=4,
        width=Width.SHORT,
        display_name="Transaction boundary interval",
    )
