"""Sinks of other vendors under their own class names: their keys as settings of FileSystemSink, each one handled."""
