"""What differs between databases: one small class each, and one for all the others."""

from connect_core.connectors.jdbc.dialects.dialect import Dialect
from connect_core.connectors.jdbc.dialects.known import dialect_named

__all__ = ["Dialect", "dialect_named"]
