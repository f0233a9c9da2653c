"""What a sink's database does: it carries out a COMMIT long after the client gave up, or is put back to a backup."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from connect_core.herder import lifecycle, offsets
from connect_core.herder.verification import verify
from tests.connectors.jdbc.late_commit import LateCommit
from tests.faults.exports import Export, LineExport, NumberedTable, TableExport
from tests.faults.history import Findings
from tests.faults.rows.changes import until_done
from tests.faults.rows.failpoints import arm, await_taken
from tests.faults.rows.row import Row
from tests.faults.world import World

_BATCH = 500
_COMMITS = 4
_SECONDS = 60.0


def _table(world: World, row: int) -> TableExport:
    return NumberedTable(world, f"row-{row}-{world.random.getrandbits(24):06x}")


def late_commit(world: World) -> Findings:
    """The connection ends at a COMMIT, which arrives later: rows without a key are there once."""
    export = _table(world, 48)
    port, late = world.stack.service("postgres").port, 0
    with LateCommit("127.0.0.1", port) as network:
        url = export.url.replace(f":{port}/", f":{network.port}/")
        export.begin(2, connection__url=url, connection__backoff__ms="200")
        world.drive(export.name)
        for number in range(_COMMITS):
            network.held.clear()
            network.arm()
            export.write(number * _BATCH, _BATCH)
            assert network.held.wait(_SECONDS), "no COMMIT came"
            time.sleep(world.random.uniform(0.5, 4.0))
            # Where the server has ended the transaction meanwhile, nothing comes of it: that is as good.
            with suppress(AssertionError, OSError):
                network.release()
            late += 1
        return export.found(set(range(_COMMITS * _BATCH)), late)


def restored(is_older_copy: bool, world: World) -> Findings:
    """The target is put back to a backup while an interval is unfinished: what came after it is written again."""
    export = _table(world, 50)
    offsets = _offsets_of(export)
    with _backup(export, offsets) as take:
        export.begin(2, offsets__table=offsets)
        world.drive(export.name)
        export.write(0, 2 * _BATCH)
        export.await_files(2 * _BATCH)
        if not is_older_copy:
            take()
        export.write(2 * _BATCH, 2 * _BATCH)
        export.await_files(4 * _BATCH)
        arm(world, "K7", export.name, "kill")
        export.write(4 * _BATCH, 2 * _BATCH)
        await_taken(world, f"no process of {export.name} came to K7")
        world.end_drivers()
    world.drive(export.name)
    return export.found(set(range(6 * _BATCH)), 2)


def restored_files(kind: type[Export], world: World) -> Findings:
    """Files and manifests are put back to a backup while an interval is unfinished: verifying tells what is missing.

    Files keep no position: what came after the backup is written again once the offsets are put back too.
    """
    export = kind(world, f"row-50-{world.random.getrandbits(24):06x}")
    export.begin(2)
    world.drive(export.name)
    export.write(0, 2 * _BATCH)
    export.await_files(2 * _BATCH)
    world.end_drivers()
    with tempfile.TemporaryDirectory(prefix="connect-backup-") as backup:
        _copy(export, world.folder, Path(backup))
        world.drive(export.name)
        export.write(2 * _BATCH, 2 * _BATCH)
        export.await_files(4 * _BATCH)
        arm(world, "K8", export.name, "kill")
        export.write(4 * _BATCH, 2 * _BATCH)
        await_taken(world, f"no process of {export.name} came to K8")
        world.end_drivers()
        _copy(export, Path(backup), world.folder)
    recount = verify(world.herder, export.name)
    # Lines cannot be recounted, and that is said.
    is_known = recount.difference_count > 0 if recount.is_recountable else kind is LineExport
    told = [] if is_known else [f"I14: nothing tells that {export.name} lacks what came after the backup"]
    lifecycle.stop(world.herder, export.name)
    entries = [
        {"partition": {"kafka_topic": export.topic, "kafka_partition": number}, "offset": {"kafka_offset": _BATCH}}
        for number in (0, 1)
    ]
    until_done(partial(offsets.alter, world.herder, export.name, entries))
    lifecycle.resume(world.herder, export.name)
    world.drive(export.name)
    return export.found(set(range(6 * _BATCH)), 2, *told)


def _copy(export: Export, source: Path, target: Path) -> None:
    """Put what a sink has written, its manifests among it, in the place of what stands in another folder."""
    for old in target.glob(f"*{export.name}*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    for new in source.glob(f"*{export.name}*"):
        shutil.copytree(new, target / new.name) if new.is_dir() else shutil.copy2(new, target / new.name)


def _offsets_of(export: TableExport) -> str:
    return f"offsets_{export.name.replace('-', '_')}"


@contextmanager
def _backup(export: TableExport, offsets: str) -> Iterator[partial[None]]:
    """Let the block take a backup of the table and its offsets; at its end both are as in it, or gone."""
    taken: dict[str, str] = {}

    def take() -> None:
        with export.connect() as session:
            for table in (export.topic, offsets):
                taken[table] = f"backup_{table}".replace("-", "_")
                session.execute(f'CREATE TABLE {taken[table]} AS SELECT * FROM "{table}"')

    yield partial(take)
    with export.connect() as session, session.transaction():
        for table in (export.topic, offsets):
            if table in taken:
                session.execute(f'DELETE FROM "{table}"')
                session.execute(f'INSERT INTO "{table}" SELECT * FROM {taken[table]}')
            else:
                session.execute(f'DROP TABLE "{table}"')


ROWS: tuple[Row, ...] = (
    Row(50, "target restored from a backup, Parquet", partial(restored_files, Export)),
    Row(50, "target restored from a backup, lines", partial(restored_files, LineExport)),
    Row(48, "COMMIT carried out after the client gave up", late_commit),
    Row(50, "target restored from a backup", partial(restored, False)),
    Row(50, "target restored to before the connector began", partial(restored, True)),
)
