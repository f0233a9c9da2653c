"""Connectors that cannot run in the Java host, and what to use instead."""

from __future__ import annotations

from connect_core.errors import ConfigError

__all__ = ["refuse_impossible"]

_NATIVE_ICEBERG = "org.apache.iceberg.connect.IcebergSinkConnector"
_ICEBERG = (
    "this Java class cannot run here: it commits its offsets through the private consumer of Connect's worker, and one "
    "of the consumer group's members must be its coordinator; here there is neither. Use the native IcebergSink"
)
_REASONS = {
    _NATIVE_ICEBERG: f"{_ICEBERG} of the same name, which accepts the same keys: take the class out of the worker's "
    "java.plugins.preferred (instead of *, name the classes that are to be Java's)",
    "io.tabular.iceberg.connect.IcebergSinkConnector": f"{_ICEBERG}, which accepts the keys of Apache's: set "
    f"connector.class to {_NATIVE_ICEBERG}",
}
"""Class → why it cannot run, and the remedy."""


def refuse_impossible(name: str) -> None:
    """Raise ConfigError for the full name of a class that cannot run here."""
    if name in _REASONS:
        raise ConfigError("connector.class", name, _REASONS[name])
