"""Nothing is defined that nobody calls, but what plugin authors and frameworks call, or what is asked for by name."""

from __future__ import annotations

import re

import pytest
from vulture import Vulture

from connect_core.cli.app import COMMANDS
from connect_core.registry import registry
from tests.architecture.sources import ROOT

_FOR_AUTHORS = ("connect_core/api/", "connect_core/testing/", "connect_core/store/migrations/")
_KINDS = ("function", "method", "property", "class", "import")
# Fields of answers, columns of tables and members of enumerations are read by name elsewhere: those kinds are left out.
_CALLED_BY = {
    "__init_subclass__": "Python",
    "on_kill": "Airflow's operators",
    "get_link": "Airflow's operator links",
    "get_col_spec": "SQLAlchemy's types",
    "process_bind_param": "SQLAlchemy's types",
    "process_result_value": "SQLAlchemy's types",
    "load_dialect_impl": "SQLAlchemy's types",
    "_manifests": "pyiceberg, of the snapshot it makes",
    "seekable": "fastavro, of the file it writes to",
    "readinto": "a buffered reader, of the file it reads",
    **dict.fromkeys(("lag_records", "last_interval_records", "last_interval_seconds"), "a scrape, by name"),
    "last_success_timestamp_seconds": "a scrape, by name",
    "ConnectDagBundle": "Airflow, by its configuration",
    "get_provider_info": "Airflow, by its entry point",
    "make_app": "the REST application that is made when it is first asked for, by name",
}
_EXPORTS = re.compile(r"^__all__ = \[.*?\]$", re.MULTILINE | re.DOTALL)
pytestmark = pytest.mark.slow


def unused() -> dict[str, str]:
    """Return each unused definition: name, and where it is."""
    finder = Vulture(ignore_decorators=["@compiles", "@app.*", "@*_app.*", "@router.*", "@routes.*"])
    for folder in ("connect_core", "dags", "plugins"):
        for place in sorted((ROOT / folder).rglob("*.py")):
            # A name in __all__ is offered; that is not a call.
            finder.scan(_EXPORTS.sub("", place.read_text()), place)
    found = (one for one in finder.get_unused_code(min_confidence=60) if one.typ in _KINDS)
    places = ((one.name, f"{one.filename.relative_to(ROOT)}:{one.first_lineno}") for one in found)
    targets = [plugin.target for plugin in registry().plugins()] + [target for target, _ in COMMANDS.values()]
    named = {target.rpartition(":")[2] for target in targets}
    return {name: place for name, place in places if name not in named and not place.startswith(_FOR_AUTHORS)}


def test_everything_is_called() -> None:
    found = unused()
    assert {name: place for name, place in found.items() if name not in _CALLED_BY} == {}
    assert _CALLED_BY.keys() - found.keys() == set(), "what is no longer there needs no exception"
