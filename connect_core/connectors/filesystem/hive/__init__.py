"""Exported files as tables of a Hive Metastore: external tables, their partitions and columns."""
