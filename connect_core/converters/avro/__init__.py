"""Avro with a schema registry, as Confluent's AvroConverter has it."""

from connect_core.converters.avro.converter import AvroConverter

__all__ = ["AvroConverter"]
