"""The metadata database: the only package of the engine that uses SQLAlchemy.

One module per noun (``connectors``, ``offsets``, …), with functions over a connection
of ``Database.read()`` or ``Database.write()`` that return frozen values.
"""

from connect_core.store.database import Connection, Database
from connect_core.store.schema import check, migrate

__all__ = ["Connection", "Database", "check", "migrate"]
