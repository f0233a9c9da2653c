"""Protobuf messages to Connect data, one by one and in columns."""
