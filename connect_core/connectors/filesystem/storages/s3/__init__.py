"""S3 and compatible stores as a storage."""

from connect_core.connectors.filesystem.storages.s3.storage import S3Storage

__all__ = ["S3Storage"]
