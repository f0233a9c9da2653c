"""Commands are tested on the herder's worlds."""

from tests.herder.conftest import world
from tests.store.databases import sqlite_template

__all__ = ["sqlite_template", "world"]
