"""Decides intervals, then updates the tables, once for each decision."""

from __future__ import annotations

import json
import logging
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from connect_core.api.records import TopicPartition
from connect_core.api.recount import Difference, RecountedInterval
from connect_core.api.sink import CommitMarker, IntervalKey, PartitionRange, Staged
from connect_core.connectors.lake.compaction import Compaction
from connect_core.connectors.lake.decisions import ConflictError, Decisions, State, check_epoch
from connect_core.connectors.lake.recount import TableRecounts, recounted
from connect_core.connectors.lake.routing import TableName
from connect_core.errors import ConfigError, ConnectError, RetriableError

__all__ = ["LakeCommitter"]

_LOG = logging.getLogger(__name__)
_SWEPT = 50
"""How many intervals are swept, the newest first: those of this run, and of an earlier one that was interrupted."""


class LakeCommitter:
    """The committer of one connector. The decision is the commit; any later driver can update the tables from it."""

    def __init__(
        self, connector: str, deployment: str, decisions: Decisions, key: str, compaction: Compaction | None
    ) -> None:
        """``key``: the setting that names the place of the decisions; ``compaction``: when files are merged."""
        self.connector = connector
        self.deployment = deployment
        self.decisions = decisions
        self._key = key
        self._compaction = compaction
        self._epoch: int | None = None

    @abstractmethod
    def apply(self, name: TableName, content: Mapping[str, Any], decision: Mapping[str, Any]) -> None:
        """Add what was staged for a table, unless it is there: check and change are one conditional commit.

        If keys were staged, the rows that have them are removed in the same commit.
        """

    @abstractmethod
    def recounts(self) -> TableRecounts:
        """Return the recounts of decided intervals in the tables."""

    @abstractmethod
    def remove_leftovers(self, name: TableName, decision: Mapping[str, Any]) -> None:
        """Remove files of a decided interval that the decision does not name; if listing fails, they are left."""

    @abstractmethod
    def compact(self, name: TableName, compaction: Compaction) -> None:
        """Merge small files of a table in a commit of its own that changes no row; do nothing if few are small.

        Raises ConflictError if another writer was first.
        """

    def staged_for(self, name: TableName) -> Mapping[str, Any]:
        """Return what a decision must contain about a table in addition to the files."""
        return {}

    def check_visible(self, name: TableName, content: Mapping[str, Any]) -> None:
        """Raise RetriableError unless the driver sees the files of a table: in a store, all machines do."""

    def fence(self, epoch: int) -> Mapping[TopicPartition, int] | None:
        """Claim the decisions and record the epoch. Raises ConfigError, StaleEpochError."""
        self.decisions.ensure()
        self.decisions.change(lambda state: self._fenced(state, epoch))
        self._epoch = epoch
        return None

    def last_interval(self) -> tuple[int, int] | None:
        """Return the newest decided interval."""
        state = self.decisions.state()
        return None if state is None else state.last

    def read_marker(self, interval: IntervalKey) -> CommitMarker | None:
        """Return the decision on an interval as a marker, ``None`` if there is none."""
        decision = self.decisions.decision(interval)
        return None if decision is None else self._marker(decision)

    def commit(self, interval: IntervalKey, staged: Sequence[Staged]) -> CommitMarker:
        """Decide that the interval is committed, unless it is decided.

        Raises StaleEpochError, and RetriableError, also if the files are on another machine only.
        """
        ordered = sorted(staged, key=lambda part: (part.topic, part.partition, part.start))
        tables: dict[str, dict[str, Any]] = {}
        for part in ordered:
            for name, found in part.detail["tables"].items():
                _join(tables, name, found)
        for content in tables.values():
            self.check_visible(tuple(content["name"]), content)
        tables = {name: {**content, **self.staged_for(tuple(content["name"]))} for name, content in tables.items()}
        ids = {part.topic: part.detail["topic_id"] for part in staged if part.detail.get("topic_id")}
        ranges = [[part.topic, part.partition, part.start, part.end] for part in ordered]
        return self._decide(interval, {"aborted": False, "ranges": ranges, "topic_ids": ids, "tables": tables})

    def publish(self, interval: IntervalKey, marker: CommitMarker) -> None:
        """Apply the decision to its tables, each with one commit. Raises StaleEpochError."""
        if marker.aborted:
            return
        if self._epoch is not None:
            check_epoch(self.decisions.state() or State(), self._epoch)
        decision = marker.detail or {}
        for _, content in sorted(decision["tables"].items()):
            if content["lists"] or content.get("keys"):
                self.apply(tuple(content["name"]), content, decision)

    def abandon(self, interval: IntervalKey, positions: Mapping[TopicPartition, int | None] | None) -> CommitMarker:
        """Decide that the interval is never committed, unless it is decided; the tables contain no positions."""
        wanted = sorted((part, at) for part, at in (positions or {}).items() if at is not None)
        ranges = [[part.topic, part.partition, at, at] for part, at in wanted]
        return self._decide(interval, {"aborted": True, "ranges": ranges, "tables": {}})

    def sweep(self, keep: Collection[IntervalKey]) -> None:
        """Remove the files that lost attempts of decided intervals have left, and merge small files if wanted."""
        kept = {(one.incarnation, one.sequence) for one in keep}
        names: set[TableName] = set()
        for decision in islice(self.decisions.all(), _SWEPT):
            names |= {tuple(one["name"]) for one in decision["tables"].values()}
            if (decision["incarnation"], decision["sequence"]) not in kept:
                for name in sorted(names):
                    self.remove_leftovers(name, decision)
        for name in sorted(names) if self._compaction else ():
            self._compact(name)

    def release(self) -> None:
        """Allow another deployment to use the target; the epoch and the decisions are kept."""
        if self.decisions.state() is not None:
            self.decisions.change(lambda state: replace(state, owner=None) if state.owner == self._owner else None)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def recount(self, first: int, last: IntervalKey) -> Iterator[RecountedInterval]:
        """Yield the decisions compared with the tables."""
        tables = self.recounts()
        for decision in self.decisions.all():
            if (decision["incarnation"], decision["sequence"]) > (last.incarnation, last.sequence):
                continue
            if decision["sequence"] < first:
                return
            yield recounted(self._marker(decision), tables)

    def foreign_objects(self) -> Iterator[Difference]:
        """Yield nothing: others may write to the tables as well."""
        yield from ()

    def summary(self, decision: Mapping[str, Any]) -> dict[str, str]:
        """Return the entries about an interval for a table's history."""
        offsets: dict[str, dict[str, int]] = {}
        for topic, partition, _, end in decision["ranges"]:
            offsets.setdefault(topic, {})[str(partition)] = end
        return {
            "connect-core.connector": self.connector,
            "connect-core.deployment": self.deployment,
            "connect-core.incarnation": str(decision["incarnation"]),
            "connect-core.sequence": str(decision["sequence"]),
            "connect-core.epoch": str(decision["epoch"]),
            "connect-core.offsets": json.dumps(offsets, separators=(",", ":")),
        }

    @property
    def _owner(self) -> tuple[str, str]:
        return self.deployment, self.connector

    def _compact(self, name: TableName) -> None:
        """Merge small files; whatever prevents it is logged, as a later run can do it."""
        assert self._compaction is not None
        try:
            self.compact(name, self._compaction)
        except ConflictError:
            _LOG.info("Files of table %s were not merged, as others changed it; a later run tries again", name[-1])
        except ConnectError as error:
            _LOG.warning("Files of table %s were not merged; a later run tries again: %s", name[-1], error)

    def _fenced(self, state: State, epoch: int) -> State:
        if state.owner not in (None, self._owner):
            deployment, connector = state.owner or ("", "")
            raise ConfigError(
                self._key,
                self.decisions.store.name,
                f"connector {connector} of the deployment {deployment or 'without a name'} writes there (this one is "
                f"{self.deployment or 'without a name'}); name another place, or delete {connector} there (or, if "
                f"that deployment is gone for good, drop {self.decisions.store.name})",
            )
        check_epoch(state, epoch)
        return replace(state, owner=self._owner, epoch=epoch)

    def _decide(self, interval: IntervalKey, content: Mapping[str, Any]) -> CommitMarker:
        self.decisions.ensure()
        return self._marker(self.decisions.decide(interval, {"deployment": self.deployment, **content}))

    def _marker(self, decision: Mapping[str, Any]) -> CommitMarker:
        ids: Mapping[str, str] = decision.get("topic_ids", {})
        ranges = tuple(
            PartitionRange(topic, partition, start, end, ids.get(topic, ""))
            for topic, partition, start, end in decision["ranges"]
        )
        return CommitMarker(
            {part.topic_partition: part.end for part in ranges},
            decision["aborted"],
            None,
            decision,
            ranges,
            is_foreign=decision["deployment"] != self.deployment,
        )


def _join(tables: dict[str, dict[str, Any]], name: str, found: Mapping[str, Any]) -> None:
    """Add what a task has staged for a table to what the other tasks have staged."""
    if not found:
        return
    existing = tables.setdefault(name, {"name": found["name"], "uuid": found["uuid"], "lists": [], "rows": 0})
    if existing["uuid"] != found["uuid"]:
        raise RetriableError(f"table {name} was dropped and recreated while the interval ran")
    existing["lists"] = [*existing["lists"], *found["lists"]]
    existing["rows"] += found["rows"]
    if "keys" in found:
        existing["keys"] = [*existing.get("keys", ()), *found["keys"]]
