"""Sinks of other makers under their own class names: their keys as settings of FileSystemSink, each accounted for."""
