"""FileSystemSink: Parquet files in topic and partition folders."""
