"""Finds the NameNode and folder of a ``hdfs://`` URL, by Hadoop's own settings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

from connect_core.errors import ConfigError

__all__ = ["CONF_DIR", "HdfsAddress"]

CONF_DIR = "hadoop.conf.dir"

_KEY = "path"
_URL = re.compile(r"hdfs://([^/\s@]*)(/.*)?\Z", re.IGNORECASE | re.DOTALL)
_PORT = 8020
_FILES = ("core-site.xml", "hdfs-site.xml")


@dataclass(frozen=True, slots=True)
class HdfsAddress:
    """A NameNode, or a name service of several, and a folder."""

    authority: str
    """``host:port``, or the name of a name service."""
    folder: PurePosixPath
    hosts: tuple[str, ...]
    """The host names of the NameNodes."""
    conf_dir: str | None

    @property
    def url(self) -> str:
        """The NameNode's URL, without a folder."""
        return f"hdfs://{self.authority}"

    @property
    def is_service(self) -> bool:
        """Whether there may be several NameNodes, one of them active."""
        return ":" not in self.authority

    @classmethod
    def of(cls, url: str, conf_dir: str | None) -> HdfsAddress:
        """Parse a URL; the default host is that of ``fs.defaultFS``. Calls no server. Raises ConfigError."""
        found = _URL.match(url)
        folder = PurePosixPath((found and found[2]) or "/")
        if found is None or ".." in folder.parts or ":" in str(folder) or "\0" in url:
            raise ConfigError(_KEY, url, "write hdfs://host:port/folder, without .. or a colon in the folder")
        settings = _settings(conf_dir)
        authority = found[1] or _default(url, settings)
        nodes = settings.get(f"dfs.ha.namenodes.{authority}", "")
        if nodes:
            addresses = [
                settings.get(f"dfs.namenode.rpc-address.{authority}.{node.strip()}", "") for node in nodes.split(",")
            ]
            return cls(authority, folder, tuple(_host(one) for one in addresses if one), conf_dir)
        authority = authority if re.search(r":\d+\Z", authority) else f"{authority}:{_PORT}"
        return cls(authority, folder, (_host(authority),), conf_dir)


def _default(url: str, settings: Mapping[str, str]) -> str:
    found = _URL.match(settings.get("fs.defaultFS", ""))
    if found is None or not found[1]:
        text = f"it does not contain a NameNode, and neither does fs.defaultFS in {CONF_DIR}; write hdfs://host:port/folder"
        raise ConfigError(_KEY, url, text)
    return found[1]


def _host(address: str) -> str:
    return address.rpartition(":")[0] or address


def _settings(conf_dir: str | None) -> dict[str, str]:
    """Return the properties in the files that the client reads as well. Raises ConfigError."""
    home = os.environ.get("HADOOP_HOME")
    folder = conf_dir or os.environ.get("HADOOP_CONF_DIR") or (f"{home}/etc/hadoop" if home else None)
    if folder is None:
        return {}
    if conf_dir is not None and not Path(conf_dir).is_dir():
        raise ConfigError(
            CONF_DIR, conf_dir, "there is no such folder on this machine; give the one that contains core-site.xml"
        )
    return dict(pair for name in _FILES for pair in _properties(Path(folder) / name))


def _properties(file: Path) -> Iterator[tuple[str, str]]:
    if not file.is_file():
        return
    try:
        tree = ElementTree.parse(file)
    except (ElementTree.ParseError, OSError) as error:
        raise ConfigError(CONF_DIR, str(file.parent), f"{file.name} cannot be read: {error}; correct it") from error
    for entry in tree.iterfind(".//property"):
        name, value = entry.findtext("name"), entry.findtext("value")
        if name and value:
            yield name.strip(), value.strip()
