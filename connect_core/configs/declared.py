"""The guarantee a connector declares, shown in the response of validation."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

from connect_core.api import Connector
from connect_core.api.config import ConfigKey

__all__ = ["with_declared_guarantee"]

_LOG = logging.getLogger(__name__)
_SUPPORT = "exactly.once.support"


def with_declared_guarantee(
    keys: Mapping[str, ConfigKey], connector: Connector, config: Mapping[str, str | None]
) -> dict[str, ConfigKey]:
    """Return the settings with the guarantee of this configuration in the documentation of ``exactly.once.support``.

    Connect's response has no other place for information that is not an error.
    """
    key = keys.get(_SUPPORT)
    if key is None:
        return dict(keys)
    given = {name: value for name, value in config.items() if value is not None}
    try:
        declared = str(connector.guarantee(given))
    except Exception as error:
        # A plugin's own code with a configuration that may be wrong: its errors are reported by the validation,
        # where secrets of the resolved values are hidden.
        _LOG.debug("The delivery guarantee is unknown: %s", type(error).__name__)
        return dict(keys)
    return {**keys, _SUPPORT: replace(key, doc=f"{key.doc} As configured here: {declared}.")}
