"""Connect data to Protobuf messages, one by one and from columns."""
