"""Protobuf schemas and Connect's, both ways; texts compiled to descriptors."""
