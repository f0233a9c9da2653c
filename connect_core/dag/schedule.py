"""Conversion of a connector's ``schedule`` to that of an Airflow DAG."""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import Asset, AssetAll, AssetAny
from airflow.sdk.definitions.asset import BaseAsset

from connect_core.configs.schedules import CRON_PRESETS, cron_of, duration_of
from connect_core.errors import ConfigError

__all__ = ["CONTINUOUS", "Schedule", "parse_asset", "parse_schedule"]

CONTINUOUS = "@continuous"

Schedule = str | timedelta | BaseAsset | None

_PRESETS = frozenset({CONTINUOUS, "@once", *CRON_PRESETS})
_NONE = frozenset({"", "none", "@none"})
_ASSET_PREFIX = "asset:"


def parse_schedule(text: str) -> Schedule:
    """Return the schedule of a DAG.

    ``@continuous``, another preset, a cron line, a duration (``PT5M``, or
    seconds), ``asset:A B`` (URIs or names; all of them), ``asset:A | B`` (any),
    or ``@none`` for runs by hand only. Raises ConfigError.
    """
    text = " ".join(text.split())
    if text in _NONE:
        return None
    if text in _PRESETS or cron_of(text) is not None:
        return text
    if text.startswith(_ASSET_PREFIX):
        return _assets(text.removeprefix(_ASSET_PREFIX).strip())
    duration = duration_of(text)
    if duration:
        return duration
    raise ConfigError(
        "schedule", text, "use @continuous, a cron expression, a duration such as PT5M, asset:URI, or none"
    )


def parse_asset(uri: str) -> Asset:
    """Return the asset of a URI. Raises ConfigError."""
    try:
        return Asset(uri=uri)
    except ValueError as error:
        raise ConfigError("schedule", uri, f"Airflow does not accept this as an asset URI: {error}") from error


def _assets(text: str) -> BaseAsset:
    any_of = text.split(" | ")
    assets = [_asset(word) for word in (any_of if len(any_of) > 1 else text.split())]
    if not assets:
        raise ConfigError("schedule", _ASSET_PREFIX, "give at least one asset after asset:")
    if len(assets) == 1:
        return assets[0]
    return AssetAny(*assets) if len(any_of) > 1 else AssetAll(*assets)


def _asset(word: str) -> BaseAsset:
    # A URI defines an asset; a name must be that of an existing one.
    return parse_asset(word) if "://" in word else Asset.ref(name=word)
