"""Environment variables as worker keys: ``CONNECT_BOOTSTRAP_SERVERS`` is ``bootstrap.servers``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

__all__ = ["WORKER_CONFIG_VARIABLE", "variables_to_properties"]

WORKER_CONFIG_VARIABLE = "CONNECT_WORKER_CONFIG"
"""The variable with the path of the worker's properties file."""

_PREFIX = "CONNECT_"


def variables_to_properties(environment: Mapping[str, str], is_known: Callable[[str], bool]) -> dict[str, str]:
    """Return the worker keys given by ``CONNECT_…`` variables.

    ``_`` stands for a dot, ``__`` for ``_`` and ``___`` for ``-``, as in the
    container images of Kafka Connect.
    """
    named = ((_key_of(name), value) for name, value in sorted(environment.items()) if name.startswith(_PREFIX))
    return {key: value for key, value in named if is_known(key)}


def _key_of(name: str) -> str:
    key = name.removeprefix(_PREFIX).lower()
    return key.replace("___", "-").replace("__", "\0").replace("_", ".").replace("\0", "_")
