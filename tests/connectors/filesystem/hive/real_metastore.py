"""A real Hive Metastore, with an embedded Derby that outlives its process."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path

from connect_core.dev.java import find_java
from tests.integration.ports import free_port
from tests.programs import maven_jars

__all__ = ["HiveServer", "hive_jars"]

_POM = Path(__file__).with_name("hive_metastore.xml")
_TIMEOUT = 180.0
_MAIN = "org.apache.hadoop.hive.metastore.HiveMetaStore"
_ARTIFACTS = {"3.1.3": "hive-standalone-metastore", "4.0.1": "hive-standalone-metastore-server"}
_OPENED = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("lang", "net", "util")]


def hive_jars(version: str) -> Path:
    """Return the folder of the metastore's jars. Skips the test where they cannot be had."""
    properties = {"hive.artifact": _ARTIFACTS[version], "hive.version": version}
    return maven_jars(f"hive-metastore-{version}", _POM, properties)


class HiveServer:
    """One metastore on its own port; its database is a folder, so that a killed one can be started again."""

    def __init__(self, folder: Path, version: str) -> None:
        self.folder, self.version = folder, version
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        (folder / "conf").mkdir()
        settings = {
            "javax.jdo.option.ConnectionURL": f"jdbc:derby:{folder}/database;create=true",
            "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
            "datanucleus.schema.autoCreateAll": "true",
            "metastore.schema.verification": "false",
            "metastore.thrift.uris": self.uri,
            "metastore.thrift.port": str(self.port),
            "metastore.thrift.bind.host": "127.0.0.1",
            "metastore.warehouse.dir": f"file://{folder}/warehouse",
            "fs.defaultFS": "file:///",
            "metastore.expression.proxy": "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy",
            "metastore.task.threads.always": "org.apache.hadoop.hive.metastore.events.EventCleanerTask",
        }
        entries = (f"<property><name>{key}</name><value>{value}</value></property>" for key, value in settings.items())
        (folder / "conf" / "metastore-site.xml").write_text(f"<configuration>{''.join(entries)}</configuration>")

    @property
    def uri(self) -> str:
        """The value of hive.metastore.uris."""
        return f"thrift://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it accepts connections."""
        command = [str(find_java()), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *_OPENED]
        command += ["-cp", f"{self.folder}/conf:{hive_jars(self.version)}/*", _MAIN]
        with (self.folder / "metastore.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "-p", str(self.port)], stdout=log, stderr=subprocess.STDOUT, cwd=self.folder
            )
        until = time.monotonic() + _TIMEOUT
        while time.monotonic() < until and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.2)
            else:
                return
        self.kill()
        raise AssertionError((self.folder / "metastore.log").read_text()[-3000:])

    def kill(self) -> None:
        """Kill it, as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(20)
            self._process = None
