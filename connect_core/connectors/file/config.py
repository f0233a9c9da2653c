"""Settings of FileStreamSource and FileStreamSink: exactly those of Connect 4.3."""

from __future__ import annotations

from connect_core.api.config import ConfigDef, ConfigType, Importance, NonEmptyString

__all__ = ["BATCH_SIZE", "DEFAULT_BATCH_SIZE", "FILE", "SINK_CONFIG", "SOURCE_CONFIG", "TOPIC"]

FILE = "file"
TOPIC = "topic"
BATCH_SIZE = "batch.size"
DEFAULT_BATCH_SIZE = 2000

SOURCE_CONFIG = (
    ConfigDef()
    .define(
        FILE,
        ConfigType.STRING,
        None,
        importance=Importance.HIGH,
        doc="The file to follow, within file.roots; a relative path begins at the first root. "
        "Without it the standard input is read (standalone only, and not exactly-once).",
    )
    .define(
        TOPIC,
        ConfigType.STRING,
        validator=NonEmptyString(),
        importance=Importance.HIGH,
        doc="The topic that gets one record per line.",
    )
    .define(
        BATCH_SIZE,
        ConfigType.INT,
        DEFAULT_BATCH_SIZE,
        importance=Importance.LOW,
        doc="How many lines one poll returns at most when records go one by one; "
        "the batch lane returns the lines of one block of 8 MB.",
    )
)

SINK_CONFIG = ConfigDef().define(
    FILE,
    ConfigType.STRING,
    None,
    importance=Importance.HIGH,
    doc="The file to append to, within file.roots; a relative path begins at the first root. "
    "Without it records go to the standard output (standalone only, and not exactly-once).",
)
