"""Apache's Iceberg sink is moved here while its offsets are ahead of its table: files are written, but not committed.

Its tasks commit offsets before its coordinator commits files, so a sink that is only stopped loses them for whoever
starts at its offsets.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence

import pytest

from tests.connectors.jdbc.clusters import Cluster, cluster
from tests.deployments.stack import Deployments
from tests.integration.deployment import Deployment, eventually
from tests.integration.topics import Topics
from tests.java_plugins.apache_iceberg import iceberg_jars
from tests.migration.iceberg import Lake
from tests.migration.live import connect, connect_jars, missing_and_repeated, url_of
from tests.side_by_side.deployments import ApacheConnect

pytestmark = [pytest.mark.servers, pytest.mark.matrix, pytest.mark.timeout(900)]

NAME, TABLE, PART = "moving-lake", "db.moving", 100


@pytest.fixture(scope="module")
def deployment(deployments: Deployments) -> Iterator[Deployment]:
    with Deployment.in_environment(deployments.stack.environment()) as opened:
        yield opened


@pytest.fixture(scope="module")
def broker(deployment: Deployment) -> Topics:
    return Topics(os.environ["CONNECT_BOOTSTRAP_SERVERS"])


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("catalog")) as server:
        yield server


@pytest.fixture(scope="module")
def lake(database: Cluster, deployments: Deployments) -> Lake:
    found = Lake(database, deployments.folder / "warehouse")
    found.create()
    return found


@pytest.fixture(scope="module")
def there(broker: Topics, deployments: Deployments) -> Iterator[ApacheConnect]:
    home = deployments.folder / "iceberg-connect"
    worker = ApacheConnect(home, broker, jars=connect_jars(home / "jars", {"iceberg": iceberg_jars()}))
    worker.start()
    yield worker
    worker.end(is_clean=True)


def write(broker: Topics, topic: str, part: int) -> None:
    broker.write(topic, lines(range(part * PART, (part + 1) * PART)), 1)


def lines(numbers: Sequence[int]) -> list[bytes]:
    return [json.dumps({"line": number}).encode() for number in numbers]


def await_lines(lake: Lake, parts: int) -> None:
    """Wait until the table has so many parts, each line once."""
    found = eventually(lambda: lake.lines(TABLE), lambda counted: len(counted) >= parts * PART, 180)
    assert missing_and_repeated(found, parts * PART) == (0, 0)


def offset_there(there: ApacheConnect) -> int:
    found = there.client.get(f"/connectors/{NAME}/offsets").json()["offsets"]
    return int(found[0]["offset"]["kafka_offset"]) if found else 0


def switching() -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "connect_core.cli.app", "switch", NAME]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def await_pause(there: ApacheConnect) -> None:
    assert eventually(lambda: there.states(NAME)[:1], lambda states: states == ["PAUSED"]) == ["PAUSED"]


def test_files_are_committed_there_before_the_sink_moves(
    deployment: Deployment, broker: Topics, there: ApacheConnect, lake: Lake
) -> None:
    topic = broker.create(1)
    control = broker.create(2)
    write(broker, topic, 0)
    config = lake.sink(topic, TABLE, **{"iceberg.control.topic": control})
    assert there.put(NAME, config).is_success
    await_lines(lake, 1)
    imported = connect("import", "--from", url_of(there), "--only", NAME)
    assert imported.returncode == 0, imported.stderr + imported.stdout

    lake.refuse_commits()
    write(broker, topic, 1)
    # Its offsets are those of both parts, its table has one.
    assert eventually(lambda: offset_there(there), lambda offset: offset == 2 * PART) == 2 * PART
    with switching() as killed:
        await_pause(there)
        killed.kill()
    with switching() as command:
        await_pause(there)
        assert len(lake.lines(TABLE)) == PART
        with pytest.raises(subprocess.TimeoutExpired):
            command.wait(5)
        lake.permit_commits()
        printed, _ = command.communicate(timeout=300)
        assert command.returncode == 0, printed
    await_lines(lake, 2)
    write(broker, topic, 2)
    await_lines(lake, 3)

    back = connect("switch", NAME, "--back")
    assert back.returncode == 0, back.stderr + back.stdout
    write(broker, topic, 3)
    await_lines(lake, 4)
    again = connect("switch", NAME)
    assert again.returncode == 0, again.stderr + again.stdout
    write(broker, topic, 4)
    await_lines(lake, 5)
    there.delete(NAME)
    deployment.delete(NAME)
