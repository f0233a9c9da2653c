"""Where files are put: the contract of storages, and the local one."""

from connect_core.connectors.filesystem.storages.local import LocalStorage
from connect_core.connectors.filesystem.storages.storage import Held, Output, Staging, Storage

__all__ = ["Held", "LocalStorage", "Output", "Staging", "Storage"]
