"""Installed distributions made on the spot."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from connect_core.registry import ENTRY_POINTS, Registry

__all__ = ["SOURCE", "install", "registry_of"]

SOURCE = """
from connect_core.api import ConfigDef, SourceConnector, SourceTask

class Task(SourceTask):
    def start(self, config): ...
    def poll(self): return None
    def stop(self): ...

class OrdersSourceConnector(SourceConnector):
    def start(self, config): self.config_given = config
    def task_class(self): return Task
    def task_configs(self, max_tasks): return [self.config_given]
    def stop(self): ...
    def config(self): return ConfigDef()
"""


def install(folder: Path, name: str, plugins: dict[str, str], code: str = SOURCE) -> None:
    """Install a distribution: its one module, and its entry points."""
    module = name.replace("-", "_")
    info = folder / f"{module}-2.5.dist-info"
    info.mkdir(parents=True)
    (folder / f"{module}.py").write_text(code)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.5\n")
    lines = [f"{alias} = {module}:{target}" for alias, target in plugins.items()]
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\n" + "\n".join(lines))


def registry_of(folder: Path) -> Registry:
    """Return the registry of what is installed in a folder."""
    found = metadata.distributions(path=[str(folder)])
    return Registry(point for one in found for point in one.entry_points if point.group == ENTRY_POINTS)
