"""Where files are put: the contract of storages, and those that come with it."""

from connect_core.connectors.filesystem.storages.local import LocalStorage
from connect_core.connectors.filesystem.storages.s3 import S3Storage
from connect_core.connectors.filesystem.storages.storage import Held, Output, Staging, Storage

__all__ = ["Held", "LocalStorage", "Output", "S3Storage", "Staging", "Storage"]
