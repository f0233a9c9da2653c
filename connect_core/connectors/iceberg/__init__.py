"""IcebergSink: topics as Iceberg tables, every record exactly once."""
