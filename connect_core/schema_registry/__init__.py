"""Schemas in a schema registry: the client, and which schema a message names."""
