"""Ends the session that a killed Kafka broker has left with its controller, before it starts again."""

from __future__ import annotations

import select
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

__all__ = ["end_old_session"]

_START_SECONDS = 30.0
_FENCE_SECONDS = 2.0
_STOP_SECONDS = 5.0
_ACTIVE = "Performing controller activation"
_FENCED = "Fencing broker"
_CONTROLLER = """\
process.roles=controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{port}
controller.listener.names=CONTROLLER
listeners=CONTROLLER://127.0.0.1:{port}
log.dirs={data}
broker.session.timeout.ms=100
"""
_LOGGING = """\
rootLogger.level = WARN
rootLogger.appenderRef.console.ref = console
logger.controller.name = org.apache.kafka.controller
logger.controller.level = INFO
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d] %p %m (%c)%n
"""


def end_old_session(java: Sequence[str], jars: Path, folder: Path, controller_port: int) -> None:
    """Run the node as a controller only until that has fenced the broker, if the broker was killed.

    A broker that starts while its former session has not expired leads its partitions at once, but is fenced a moment
    later. Transactions whose end it was about to mark then have a partition without a leader: Kafka takes that for a
    deleted topic, drops the marker and counts the transaction as completed. With one replica, nobody could read past
    it any more (4.3.1, ``TransactionMarkerChannelManager.addTxnMarkersToBrokerQueue``). A broker that starts fenced
    registers first, and leads only then. Without an answer of the controller nothing is done: the broker starts anyway.
    """
    data = folder / "data"
    if (data / ".kafka_cleanshutdown").exists():
        return
    properties, logging = folder / "controller.properties", folder / "controller-log4j2.properties"
    properties.write_text(_CONTROLLER.format(port=controller_port, data=data))
    logging.write_text(_LOGGING)
    command = (*java, f"-Dlog4j2.configurationFile={logging}", "-cp", f"{jars}/*", "kafka.Kafka", str(properties))
    with subprocess.Popen(command, bufsize=0, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as controller:
        try:
            if _has_printed(controller, _ACTIVE, _START_SECONDS):
                # Without this line it was fenced before: it has died while it was starting.
                _has_printed(controller, _FENCED, _FENCE_SECONDS)
        finally:
            _stop(controller)


def _has_printed(process: subprocess.Popen[bytes], text: str, seconds: float) -> bool:
    assert process.stdout is not None
    deadline = time.monotonic() + seconds
    while select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
        line = process.stdout.readline()
        if not line or text.encode() in line:
            return bool(line)
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.communicate(timeout=_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
