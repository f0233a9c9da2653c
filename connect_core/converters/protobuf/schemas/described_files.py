"""Schemas that are descriptors in base64 instead of text, as registered by clients of other languages."""

from __future__ import annotations

import base64
import binascii
import re

from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError

__all__ = ["described_by"]

_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


def described_by(text: str, name: str) -> descriptor_pb2.FileDescriptorProto | None:
    """Return the descriptor in a text, with the name of its file, ``None`` for a text in Protobuf's language.

    The entries of its maps count as its messages, since the descriptor declares them.
    """
    if len(text) % 4 or not _BASE64.fullmatch(text):
        return None
    try:
        file = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(text, validate=True))
    except (binascii.Error, DecodeError):
        return None
    file.name = name
    pending = list(file.message_type)
    while pending:
        message = pending.pop()
        message.options.ClearField("map_entry")
        pending += message.nested_type
    return file
