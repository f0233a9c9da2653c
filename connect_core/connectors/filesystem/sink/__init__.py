"""FileSystemSink: topics as files."""
