"""The metadata database: SQLAlchemy lives here and nowhere else in the engine.

A module a noun (``connectors``, ``offsets``, …): functions over a connection
of ``Database.read()`` or ``Database.write()``, frozen values out.
"""

from connect_core.store.database import Connection, Database
from connect_core.store.schema import check, migrate

__all__ = ["Connection", "Database", "check", "migrate"]
