"""Notices that a connector was changed in its cluster since it was imported: here it would run as it was before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from connect_core.errors import ConnectError, IllegalWorkerStateError
from connect_core.herder.context import Herder
from connect_core.migration.importing import CONVERTERS, changed_keys, opened
from connect_core.migration.steps import Sides
from connect_core.store import configs

__all__ = ["differing_keys", "ensure_known_config"]

_MOST_VERSIONS = 1000


def ensure_known_config(herder: Herder, sides: Sides) -> None:
    """Raise IllegalWorkerStateError unless the configuration in the cluster is one that the connector had here.

    One it had earlier counts too: an imported connector may be adapted to this deployment.
    """
    there = sides.there.config
    changed: list[str] = []
    for config in _versions(herder, sides.name):
        differing = changed_keys(_set_there(config, there), _set_there(there, there))
        if not differing:
            return
        changed = changed or differing
    raise IllegalWorkerStateError(_refusal(sides, changed))


def differing_keys(herder: Herder, sides: Sides) -> list[str]:
    """Return the settings whose values differ between the cluster and here; converters of its workers excepted."""
    there = sides.there.config
    for config in _versions(herder, sides.name):
        return changed_keys(_set_there(config, there), _set_there(there, there))
    return []


def _versions(herder: Herder, name: str) -> Iterator[dict[str, str]]:
    """Yield the configurations it had here, newest first, but for those whose secrets cannot be opened any more."""
    with herder.database.read() as connection:
        found = configs.history(connection, name, _MOST_VERSIONS)
    for one in found:
        try:
            yield opened(herder.providers, name, one.config)
        except ConnectError:
            continue


def _set_there(config: Mapping[str, str], there: Mapping[str, str]) -> dict[str, str]:
    """Leave out converters that the connector does not set there: the import may have given it those of its workers."""
    unset = [one for one in CONVERTERS if one not in there]
    left_out = tuple(f"{one}." for one in unset)
    return {key: value for key, value in config.items() if key not in unset and not key.startswith(left_out)}


def _refusal(sides: Sides, changed: Sequence[str]) -> str:
    name, url = sides.name, sides.origin.url
    begun = sides.origin.state is not None
    first = f"Undo the switch (connect switch {name} --back). Then give" if begun else "Nothing was stopped. Give"
    return (
        f"{name} was changed at {url} since it was imported, and would run with its former values here: "
        f"{', '.join(changed)}. {first} it the new values here too (connect create --replace, or PUT "
        f"/connectors/{name}/config), or delete it here and import it again. Then run this again."
    )
