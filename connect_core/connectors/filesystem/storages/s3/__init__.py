"""S3 and what speaks its protocol, as a storage."""

from connect_core.connectors.filesystem.storages.s3.storage import S3Storage

__all__ = ["S3Storage"]
