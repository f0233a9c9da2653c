"""The metadata database is lost or put back to a backup while a target moves on; two deployments want one place."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from functools import partial

import psycopg

from connect_core.interval.values import ConnectorType
from connect_core.store import Database, migrate
from tests.faults.exports import Export, LineExport, NumberedTable
from tests.faults.feeds import Feed
from tests.faults.history import Findings
from tests.faults.rows.databases import other_database, url_of
from tests.faults.rows.failpoints import arm, await_taken
from tests.faults.rows.row import Row
from tests.faults.world import World

_BATCH = 1000
_SECONDS = 120.0
_POINTS = ("K6", "K7", "K8")
"""Before the commit in the target; before the metadata follow; before files are published."""


class _TableApart(NumberedTable):
    """A table in a database of its own, which does not go away with the metadata."""

    @property
    def database(self) -> str:
        """The name of its database."""
        return self.name.replace("-", "_")

    @property
    def url(self) -> str:
        """The JDBC URL of it."""
        return f"jdbc:postgresql://127.0.0.1:{self.world.stack.service('postgres').port}/{self.database}"

    def begin(self, partitions: int = 2, **config: str) -> None:
        """Create the database as well."""
        with self.world.superuser() as session:
            session.execute(f"CREATE DATABASE {self.database} OWNER connect")
        super().begin(partitions, **config)

    def connect(self) -> psycopg.Connection:
        """Return a connection of the table's owner."""
        return psycopg.connect(url_of(self.world, self.database).replace("+psycopg", ""), autocommit=True)


def restored(kind: type[Export], world: World) -> Findings:
    """The metadata are put back to a backup after a driver died in its commit: what was committed since is found."""
    chance = f"{world.random.getrandbits(24):06x}"
    export = kind(world, f"row-51-{chance}")
    with other_database(world, f"meta_{chance}") as url:
        _begin(world, export, url)
        world.database.close()
        with world.superuser() as session:
            session.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'meta_%'")
            session.execute(f"CREATE DATABASE backup_{chance} TEMPLATE meta_{chance} OWNER connect")
        world.drive(export.name)
        export.write(_BATCH, _BATCH)
        export.await_files(2 * _BATCH)
        _die(world, export)
        _turn_to(world, f"backup_{chance}")
        world.drive(export.name)
        export.write(3 * _BATCH, _BATCH)
        return export.found(set(range(4 * _BATCH)), 2)


def lost(kind: type[Export], world: World) -> Findings:
    """The metadata are lost when a driver has died in its commit: a new database is let in by name, and goes on.

    Files go on from the consumer group's position, and from the last manifest where the group has not heard of it.
    """
    chance = f"{world.random.getrandbits(24):06x}"
    export = kind(world, f"row-51-{chance}")
    with other_database(world, f"meta_{chance}") as url:
        _begin(world, export, url)
        _die(world, export)
        with world.superuser() as session:
            session.execute(f"CREATE DATABASE anew_{chance} OWNER connect")
        migrate(_turn_to(world, f"anew_{chance}"))
        export.create(world.database)
        told = _refused(world, export.name, r"set metadata\.replaces=([0-9a-f-]{36})", {})
        world.environment["CONNECT_METADATA_REPLACES"] = told[1]
        world.drive(export.name)
        export.write(2 * _BATCH, 2 * _BATCH)
        # Until a driver has claimed the group.id, each that is started needs the leave.
        export.await_files(4 * _BATCH)
        world.environment["CONNECT_METADATA_REPLACES"] = ""
        return export.found(set(range(4 * _BATCH)), 2)


def two_deployments(kind: type[Export], world: World) -> Findings:
    """Another deployment has a connector of this name and place, then this group.id: refused, while the first moves."""
    chance = f"{world.random.getrandbits(24):06x}"
    export = kind(world, f"row-53-{chance}")
    export.begin(2)
    world.drive(export.name)
    export.write(0, _BATCH)
    export.await_files(_BATCH)
    for number, (group, text) in enumerate(
        ((f"other-{chance}", "of the deployment"), ("", "another metadata database"))
    ):
        settings = {"CONNECT_DATABASE_URL": _other(world, export, f"other_{chance}_{number}")}
        _refused(world, export.name, text, settings | ({"CONNECT_GROUP_ID": group} if group else {}), export)
    return export.found(set(range(3 * _BATCH)), 2)


def two_deployments_of_a_source(world: World) -> Findings:
    """Another deployment reads the same file, by the same name, into topics of its own: neither ends the other.

    With this group.id it is refused, while the first moves. Both have offsets topics of their own: in one they would be
    the offsets of one connector, as in Connect.
    """
    chance = f"{world.random.getrandbits(24):06x}"
    feed, other = (Feed(world, f"row-53-{chance}") for _ in range(2))
    feed.begin(2)
    world.drive(feed.name)
    feed.write(0, _BATCH)
    other.topic = world.topics.create(2)
    own = world.topics.create(3, cleanup_policy="compact")
    url = _other(world, other, f"other_{chance}_0", offsets__storage__topic=own)
    world.drive(other.name, {"CONNECT_DATABASE_URL": url, "CONNECT_GROUP_ID": f"other-{chance}"})
    second = world.drivers[-1]
    feed.await_files(_BATCH)
    feed.write(_BATCH, _BATCH)
    for one in (feed, other):
        one.await_files(2 * _BATCH)
    second.process.kill()
    second.process.wait()
    world.drivers.remove(second)
    url = _other(world, feed, f"other_{chance}_1")
    _refused(world, feed.name, "another metadata database", {"CONNECT_DATABASE_URL": url}, feed)
    wrong = [] if sorted(other.rows()) == list(range(2 * _BATCH)) else ["the other deployment's lines are not whole"]
    return feed.found(set(range(3 * _BATCH)), 2, *wrong)


def _other(world: World, export: Export, name: str, **config: str) -> str:
    """Create a metadata database that has a connector of the same name → its address."""
    with world.superuser() as session:
        session.execute(f"CREATE DATABASE {name} OWNER connect")
    url = url_of(world, name)
    migrate(url)
    other = Database(url)
    export.create(other, **config)
    other.close()
    return url


def _begin(world: World, export: Export, url: str) -> None:
    """Let the export move a first batch in a new database; then no driver runs."""
    migrate(url)
    export.begin(2)
    world.drive(export.name)
    export.write(0, _BATCH)
    export.await_files(_BATCH)
    time.sleep(1)
    world.end_drivers()


def _die(world: World, export: Export, points: Sequence[str] = _POINTS) -> None:
    """Let a driver die in the commit of the next batch."""
    first = len(export.rows())
    # A source has nothing to publish.
    known = [point for point in points if export.kind is ConnectorType.SINK or point != "K8"]
    arm(world, world.random.choice(known), export.name, "kill")
    export.write(first, _BATCH)
    world.heal(export.name)
    await_taken(world, f"no driver of {export.name} came to its commit")
    world.end_drivers()


def _turn_to(world: World, database: str) -> str:
    """Let the metadata be those of another database from now on → its address."""
    world.database.close()
    url = url_of(world, database)
    world.environment["CONNECT_DATABASE_URL"], world.database = url, Database(url)
    return url


def _refused(
    world: World, name: str, text: str, settings: dict[str, str], beside: Export | None = None
) -> re.Match[str]:
    """Drive the connector with other settings until it is told why not; ``beside`` moves a batch meanwhile."""
    log = world.folder / "drivers.log"
    before, end = log.stat().st_size, time.monotonic() + _SECONDS
    world.drive(name, settings)
    refused = world.drivers[-1]
    if beside is not None:
        beside.write(first := len(beside.rows()), _BATCH)
        beside.await_files(first + _BATCH)
    while (found := re.search(text, log.read_bytes()[before:].decode())) is None:
        assert time.monotonic() < end, f"{name} was not refused with {text!r}"
        time.sleep(0.2)
    refused.process.kill()
    refused.process.wait()
    world.drivers.remove(refused)
    return found


_KINDS: Mapping[str, type[Export]] = {"Parquet": Export, "lines": LineExport, "a table": _TableApart}

ROWS: tuple[Row, ...] = (
    *(Row(51, f"metadata restored to a backup, {what}", partial(restored, kind)) for what, kind in _KINDS.items()),
    *(Row(51, f"metadata lost and recreated, {what}", partial(lost, kind)) for what, kind in _KINDS.items()),
    Row(51, "metadata restored to a backup, a source", partial(restored, Feed)),
    Row(51, "metadata lost and recreated, a source", partial(lost, Feed)),
    Row(53, "two deployments, a source", two_deployments_of_a_source),
    *(Row(53, f"two deployments, {what}", partial(two_deployments, kind)) for what, kind in _KINDS.items()),
)
