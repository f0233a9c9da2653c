"""The embedded stack: real servers for a laptop and for tests."""
