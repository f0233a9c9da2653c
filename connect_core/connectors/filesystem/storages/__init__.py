"""Where files are stored: the contract of storages, and the built-in ones."""

from connect_core.connectors.filesystem.storages.azure.storage import AzureStorage
from connect_core.connectors.filesystem.storages.gcs.storage import GcsStorage
from connect_core.connectors.filesystem.storages.hdfs.storage import HdfsStorage
from connect_core.connectors.filesystem.storages.local.storage import LocalStorage
from connect_core.connectors.filesystem.storages.s3 import S3Storage
from connect_core.connectors.filesystem.storages.source_files import FileEntry, SourceFiles
from connect_core.connectors.filesystem.storages.storage import Held, Output, Staging, Storage

__all__ = [
    "AzureStorage",
    "FileEntry",
    "GcsStorage",
    "HdfsStorage",
    "Held",
    "LocalStorage",
    "Output",
    "S3Storage",
    "SourceFiles",
    "Staging",
    "Storage",
]
