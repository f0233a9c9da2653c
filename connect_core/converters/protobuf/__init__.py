"""Protobuf messages with their schema in a registry."""

from connect_core.converters.protobuf.converter import ProtobufConverter

__all__ = ["ProtobufConverter"]
