"""The differences between databases: a small class for each, and one for all others."""

from connect_core.connectors.jdbc.dialects.dialect import Dialect
from connect_core.connectors.jdbc.dialects.known import dialect_named

__all__ = ["Dialect", "dialect_named"]
