"""The folder next to a connector's output with its proofs: owner, epochs, manifests."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker, IntervalKey, PartitionRange, Staged
from connect_core.connectors.control_store import LOCAL, ControlStore
from connect_core.errors import ConfigError, StaleEpochError

__all__ = ["ControlFolder", "Owner", "claim", "execution_of", "release"]

_VERSION = 1


@dataclass(frozen=True, slots=True)
class ControlFolder:
    """What one connector has committed to one target; every call is idempotent.

    ``epochs/<epoch>`` (by default within ``path``) fences older drivers; ``path/<incarnation>/<sequence>.json`` is the
    manifest of an interval, created once and never changed, and ``.published`` next to it shows that all files it names
    are in place. Tasks work in ``staging/<incarnation>-<sequence>/<execution>``.
    """

    path: Path
    staging: Path
    epochs: Path | None = None
    """Epochs that several connectors share, one after the other."""
    deployment: str = ""
    """The deployment of the intervals: a manifest of another deployment proves nothing here."""
    store: ControlStore = LOCAL

    def raise_epoch(self, epoch: int) -> None:
        """Record an epoch. Raises StaleEpochError if the folder contains a newer one."""
        folder = self._epochs
        self.check_epoch(epoch)
        self.store.create(folder / f"{epoch:020d}", {"epoch": epoch})
        # Again: a newer driver may have written its own between the check and the write.
        self.check_epoch(epoch)
        for name in self.store.names(folder):
            if name.isdigit() and int(name) < epoch:
                self.store.remove(folder / name)

    def check_epoch(self, epoch: int) -> None:
        """Raise StaleEpochError if the folder contains a newer epoch."""
        folder = self._epochs
        newest = max((int(name) for name in self.store.names(folder) if name.isdigit()), default=0)
        if newest > epoch:
            error = StaleEpochError(f"epoch {newest} is recorded in {folder}: the driver with epoch {epoch} must stop")
            error.epoch = newest
            raise error

    def marker(self, interval: IntervalKey) -> CommitMarker | None:
        """Return the marker from an interval's manifest, or ``None`` if there is none."""
        manifest = self.store.read(self._place(interval, "json"))
        return None if manifest is None else self._marker(manifest)

    def last_interval(self) -> tuple[int, int] | None:
        """Return incarnation and sequence of the newest interval that has a manifest, or ``None`` if there is none."""
        return next(self.intervals(), None)

    def intervals(self) -> Iterator[tuple[int, int]]:
        """Return incarnation and sequence of the intervals that have a manifest, the newest first."""
        lives = [int(name) for name in self.store.names(self.path) if name.isdigit()]
        for incarnation in sorted(lives, reverse=True):
            names = [name.partition(".json") for name in self.store.names(self.path / str(incarnation))]
            manifests = [int(stem) for stem, ending, rest in names if ending and not rest and stem.isdigit()]
            for sequence in sorted(manifests, reverse=True):
                yield incarnation, sequence

    def commit(self, interval: IntervalKey, staged: Sequence[Staged], content: Mapping[str, Any]) -> CommitMarker:
        """Create the commit manifest unless there is a manifest → the marker of the existing one."""
        ids = {part.topic: part.detail["topic_id"] for part in staged if part.detail.get("topic_id")}
        ranges = [_range(part.topic, part.partition, part.start, part.end) for part in staged]
        return self._create(interval, {"aborted": False, "ranges": ranges, "topic_ids": ids, **content})

    def abandon(self, interval: IntervalKey, positions: Mapping[TopicPartition, int | None] | None) -> CommitMarker:
        """Create the abort manifest unless there is a manifest → the marker of the existing one."""
        wanted = sorted((part, position) for part, position in (positions or {}).items() if position is not None)
        ranges = [_range(*part, position, position) for part, position in wanted]
        return self._create(interval, {"aborted": True, "ranges": ranges})

    def is_published(self, interval: IntervalKey) -> bool:
        """Return whether all files that the manifest names are in place."""
        return self.store.read(self._place(interval, "published")) is not None

    def set_published(self, interval: IntervalKey) -> None:
        """Record that all files that the manifest names are in place."""
        self.store.create(self._place(interval, "published"), {})

    def attempt_folder(self, interval: IntervalKey, execution: str) -> Path:
        """Return the folder in which one execution of a task stages; it may not exist yet."""
        return self.staging / f"{interval.incarnation}-{interval.sequence}" / execution

    def sweep(self, keep: Collection[IntervalKey]) -> bool:
        """Remove the staged files of finished intervals except ``keep`` → whether none with a manifest has any left.

        An interval without a manifest is left alone: it may have begun after ``keep`` was read.
        """
        kept, is_clear = {f"{interval.incarnation}-{interval.sequence}" for interval in keep}, True
        for name in self.store.names(self.staging):
            if name in kept:
                continue
            incarnation, _, sequence = name.partition("-")
            interval = IntervalKey("", int(incarnation), int(sequence), 0)
            marker = self.marker(interval)
            if marker is not None:
                is_over = marker.aborted or self.is_published(interval)
                is_clear = is_over and self.store.remove_tree(self.staging / name) and is_clear
        return is_clear

    @property
    def _epochs(self) -> Path:
        return self.path / "epochs" if self.epochs is None else self.epochs

    def _create(self, interval: IntervalKey, content: Mapping[str, Any]) -> CommitMarker:
        head = {
            "version": _VERSION,
            "deployment": self.deployment,
            "connector": interval.connector,
            "incarnation": interval.incarnation,
            "sequence": interval.sequence,
            "epoch": interval.epoch,
        }
        return self._marker(self.store.create(self._place(interval, "json"), {**head, **content}))

    def _marker(self, manifest: Mapping[str, Any]) -> CommitMarker:
        ids: Mapping[str, str] = manifest.get("topic_ids", {})
        ranges = tuple(
            PartitionRange(one["topic"], one["partition"], one["start"], one["end"], ids.get(one["topic"], ""))
            for one in manifest["ranges"]
        )
        return CommitMarker(
            {part.topic_partition: part.end for part in ranges},
            manifest["aborted"],
            manifest.get("columns"),
            manifest,
            ranges,
            is_foreign=manifest.get("deployment") != self.deployment,
            moves=manifest.get("moves", True),
        )

    def _place(self, interval: IntervalKey, ending: str) -> Path:
        return self.path / str(interval.incarnation) / f"{interval.sequence:010d}.{ending}"


def _range(topic: str, partition: int, start: int, end: int) -> dict[str, Any]:
    return {"topic": topic, "partition": partition, "start": start, "end": end}


@dataclass(frozen=True, slots=True)
class Owner:
    """The one connector, of one deployment, that writes to a target."""

    connector: str
    deployment: str = ""


def claim(place: Path, owner: Owner, key: str, value: str, store: ControlStore = LOCAL) -> None:
    """Make ``owner`` the only writer of a target. Raises ConfigError if another connector or deployment is."""
    existing = _owner(store.create(place, {"connector": owner.connector, "deployment": owner.deployment}))
    if existing == owner:
        return
    other = existing.connector
    if existing.deployment != owner.deployment:
        other = f"{other} of the deployment {existing.deployment or 'without a name'}"
        mine = f" (this one is {owner.deployment})" if owner.deployment else ""
        other += mine
    raise ConfigError(
        key,
        value,
        f"connector {other} writes there; choose another, or delete {existing.connector} there "
        f"(or, if it is permanently lost, {place})",
    )


def release(place: Path, owner: Owner, store: ControlStore = LOCAL) -> None:
    """Remove the claim, if it is the one of ``owner``."""
    existing = store.read(place)
    if existing is not None and _owner(existing) == owner:
        store.remove(place)


def _owner(content: Mapping[str, Any]) -> Owner:
    return Owner(content["connector"], content.get("deployment", ""))


def execution_of(attempt: str) -> str:
    """Return a unique name for one execution of an attempt: Spark may run one task more than once."""
    return f"{attempt}-{secrets.token_hex(4)}"
