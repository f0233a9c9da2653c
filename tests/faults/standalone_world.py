"""A world whose Spark is a standalone cluster that shares no code with the drivers, and no folder but the world's."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from connect_core.interval import failpoints
from tests.faults.executor_python import executor_python
from tests.faults.spark_cluster import SparkCluster
from tests.faults.world import CHECKOUT, World

__all__ = ["StandaloneWorld"]


@dataclass(slots=True)
class StandaloneWorld(World):
    """A master, two workers and a Spark Connect server: as a user's own cluster, not as the embedded stack's."""

    services: tuple[str, ...] = ("postgres", "kafka")
    batches: int = 20
    slots: ClassVar[int] = 6
    """Of each worker: Spark Connect takes eight of them, other applications may have the rest."""
    first: ClassVar[tuple[str, ...]] = ()
    """The processes that are started at once, all if none is named."""
    cluster: SparkCluster = field(init=False)

    def __enter__(self) -> StandaloneWorld:
        """Start the servers, and the cluster."""
        World.__enter__(self)
        self.cluster = SparkCluster(
            self.folder / "cluster",
            executor_python(self.folder / "executor", "jdbc"),
            {failpoints.TESTING: "1", failpoints.FILE: str(self.armed)},
            hidden=(CHECKOUT / "connect_core", CHECKOUT / "tests", self.folder / "plugins"),
            local=(self.local,),
            cores=self.slots,
        )
        self._open.callback(self.cluster.kill)
        # Drivers end before what they use.
        self._open.callback(self.end_drivers)
        self.cluster.start(*self.first)
        self.environment |= self.cluster.exports()
        return self

    @property
    def local(self) -> Path:
        """A folder that is another one on each machine, where that can be arranged."""
        return self.folder / "local"

    @property
    def spark_port(self) -> int:
        """The port of the Spark Connect server."""
        return self.cluster.ports["server"]
