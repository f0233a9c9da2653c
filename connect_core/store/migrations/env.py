"""Alembic's entry: runs on the connection, and in the transaction, it is handed."""

from __future__ import annotations

from alembic import context

from connect_core.store.models import METADATA
from connect_core.store.schema import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
context.run_migrations()
