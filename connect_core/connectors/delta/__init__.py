"""DeltaSink: topics as Delta tables, every record exactly once."""
