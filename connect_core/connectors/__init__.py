"""The connectors that come with connect-core: one folder per system."""
