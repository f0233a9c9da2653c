"""How each key of a configuration is treated here: honoured, mapped, not needed, or missing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from typing_extensions import TypedDict

from connect_core.configs import ValidatedConfig
from connect_core.configs.overrides import CLIENTS
from connect_core.connectors.filesystem.aliases.connector import AliasSinkConnector
from connect_core.connectors.filesystem.aliases.key import Treatment as AliasTreatment
from connect_core.kafka.properties import FORCED, RENAMED, UNUSED, ClientKind

__all__ = ["KeyFinding", "KeyJson", "KeyTreatment", "key_findings"]

_NO_TREATMENT = "no plugin here has this setting: it would have no effect"
_NOBODY = "no plugin has this setting, here or there: it has no effect"
_ENGINE = {
    "config.action.reload": "every run resolves references again",
    "offset.flush.interval.ms": "offsets are committed with the records of each interval",
    "offset.flush.timeout.ms": "offsets are committed with the records of each interval",
}
"""Keys that Connect's engine needs and this one does not, with the reason."""
_MAPPED = {
    "offsets.storage.topic": "offsets are kept in this topic and in the metadata database",
    "transaction.boundary": "a transaction is an interval, or defined by the connector",
    "transaction.boundary.interval.ms": "a transaction is an interval, or defined by the connector",
}
_PARTS = ("transforms.", "predicates.", "key.converter.", "value.converter.", "header.converter.")
"""Prefixes of settings of plugins within a connector, which the connector's own plugin does not list."""
_READ_BY_PLANS = "auto.offset.reset"
"""A consumer setting that plans follow, although clients get another value."""


class KeyTreatment(Enum):
    """How a key is treated; the values are the words of the report."""

    HONOURED = "honoured"
    """It has the same meaning here as there."""
    MAPPED = "mapped"
    """It is understood, and implemented in another way."""
    UNNEEDED = "not needed"
    """It may stay but has no effect, as nothing here needs it."""
    MISSING = "missing"
    """It is refused, or required and not given, or does not exist here."""


class KeyJson(TypedDict):
    """A finding in ``--json`` and REST; ``treatment``: a word of the report."""

    key: str
    treatment: str
    why: str
    blocking: bool


@dataclass(frozen=True, slots=True)
class KeyFinding:
    """One key; ``why``: the reason in a few words, if any. ``is_blocking``: the connector cannot be created."""

    key: str
    treatment: KeyTreatment
    why: str = ""
    is_blocking: bool = False

    def to_json(self) -> KeyJson:
        """Return the finding for ``--json``."""
        return {"key": self.key, "treatment": self.treatment.value, "why": self.why, "blocking": self.is_blocking}


def key_findings(
    config: Mapping[str, str], infos: ValidatedConfig, plugin: type[Any], known_there: Collection[str] | None = None
) -> list[KeyFinding]:
    """Return the treatment of every key, in the order of the configuration, then required ones that are not given.

    ``infos``: the result of validation here. ``known_there``: the settings of the connector's plugin there, if known.
    """
    errors = infos.errors()
    defined = {info.key.name for info in infos.settings if info.key is not None}
    aliased = _alias_findings(config, plugin)
    found = []
    for key in config:
        if key in errors:
            found.append(KeyFinding(key, KeyTreatment.MISSING, " ".join(errors[key]), is_blocking=True))
        else:
            found.append(aliased.get(key) or _treated(key, key in defined, known_there))
    not_given = (key for key in errors if key not in config and key != "name")
    return [*found, *(KeyFinding(key, KeyTreatment.MISSING, " ".join(errors[key]), True) for key in not_given)]


def _treated(key: str, is_defined: bool, known_there: Collection[str] | None) -> KeyFinding:
    if key in _ENGINE:
        return KeyFinding(key, KeyTreatment.UNNEEDED, _ENGINE[key])
    if key in _MAPPED:
        return KeyFinding(key, KeyTreatment.MAPPED, _MAPPED[key])
    client, _, setting = key.partition(".override.")
    if setting and client in CLIENTS:
        return _override(key, ClientKind(client), setting)
    if is_defined:
        return KeyFinding(key, KeyTreatment.HONOURED)
    if known_there is not None and key not in known_there and not key.startswith(_PARTS):
        return KeyFinding(key, KeyTreatment.UNNEEDED, _NOBODY)
    return KeyFinding(key, KeyTreatment.MISSING, _NO_TREATMENT)


def _override(key: str, client: ClientKind, setting: str) -> KeyFinding:
    if setting == _READ_BY_PLANS:
        return KeyFinding(key, KeyTreatment.HONOURED)
    if setting in UNUSED:
        return KeyFinding(key, KeyTreatment.UNNEEDED, "the client used here does not need it")
    if setting in FORCED[client]:
        return KeyFinding(
            key, KeyTreatment.MAPPED, f"always {FORCED[client][setting]} here: exactly-once depends on it"
        )
    if setting in RENAMED[client]:
        return KeyFinding(key, KeyTreatment.MAPPED, f"librdkafka's {RENAMED[client][setting]}")
    return KeyFinding(key, KeyTreatment.HONOURED)


def _alias_findings(config: Mapping[str, str], plugin: type[Any]) -> dict[str, KeyFinding]:
    """Return how a sink under another vendor's class name treats its keys."""
    if not issubclass(plugin, AliasSinkConnector):
        return {}
    words = {
        AliasTreatment.HONOURED: KeyTreatment.HONOURED,
        AliasTreatment.MAPPED: KeyTreatment.MAPPED,
        AliasTreatment.UNNEEDED: KeyTreatment.UNNEEDED,
    }
    found = {
        one.name: KeyFinding(
            one.name, words[one.treatment], "" if one.treatment is AliasTreatment.HONOURED else _first_sentence(one.doc)
        )
        for one in plugin.original.keys
    }
    for prefix in plugin.original.prefixes:
        found |= {
            key: KeyFinding(key, KeyTreatment.UNNEEDED, prefix.why) for key in config if key.startswith(prefix.text)
        }
    return found


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".")
