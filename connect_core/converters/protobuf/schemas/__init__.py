"""Conversion between Protobuf schemas and Connect's; texts compiled to descriptors."""
