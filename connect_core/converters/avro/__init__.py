"""Avro with a schema registry, as in Confluent's AvroConverter."""

from connect_core.converters.avro.converter import AvroConverter

__all__ = ["AvroConverter"]
