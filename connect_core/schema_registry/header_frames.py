"""The header of a record that may hold a message's frame. Confluent: ``SchemaId``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from connect_core.api.convert import FrameHeader
from connect_core.schema_registry.settings import HeaderUse, RegistrySettings

__all__ = ["frame_header"]

_GUID_FRAME = 17


def frame_header(
    configs: Mapping[str, Any], is_key: bool, body_start: Callable[[bytes], int] = lambda rest: 0
) -> FrameHeader | None:
    """Return the header that a converter's settings require, ``None`` without one. Raise ConfigError.

    ``body_start``: the length of the part after the GUID that belongs to the frame, as Protobuf's message indexes.
    """
    use = RegistrySettings.of(configs, is_key).header
    name = "__key_schema_id" if is_key else "__value_schema_id"
    if use is HeaderUse.READ_AND_WRITTEN:
        return FrameHeader(name, lambda message: _GUID_FRAME + body_start(message[_GUID_FRAME:]))
    return FrameHeader(name) if use is HeaderUse.READ else None
