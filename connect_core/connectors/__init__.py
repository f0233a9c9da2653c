"""The connectors that come with connect-core: one folder a system."""
