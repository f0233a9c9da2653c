"""Protobuf messages whose schema a registry keeps."""

from connect_core.converters.protobuf.converter import ProtobufConverter

__all__ = ["ProtobufConverter"]
