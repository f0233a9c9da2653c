"""``python -m tests.side_by_side``: the scenarios on Apache Kafka Connect and on ours, side by side.

    [--jars DIR] [--on apache,standalone,airflow] [--only NAME,…] [--write FILE]

``--jars``: where ``tests/peer/fetch.sh DIR`` put Apache Kafka Connect. ``--write``
puts the table between the marks of a Markdown file.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from connect_core.dev.stack import Stack
from tests.integration.topics import Topics
from tests.side_by_side.deployments import AirflowDeployment, ApacheConnect, Deployment, Standalone
from tests.side_by_side.scenarios import SCENARIOS

__all__ = ["main"]

_BEGIN, _END = "<!-- results -->", "<!-- end of results -->"


@contextmanager
def deployment(kind: str, folder: Path, jars: Path) -> Iterator[Deployment]:
    """Run one deployment, with servers of its own, for the block."""
    work = folder / kind / "work"
    work.mkdir(parents=True)
    settings = {"CONNECT_FILE_ROOTS": str(work)}
    place = folder / kind / "stack"
    is_whole = kind == "airflow"
    stack = Stack(place, settings=settings) if is_whole else Stack(place, services=("kafka",))
    with ExitStack() as ending:
        ending.callback(stack.down)
        stack.up()
        topics = Topics(stack.environment()["CONNECT_BOOTSTRAP_SERVERS"])
        one: Deployment
        if is_whole:
            one = AirflowDeployment(work, topics, stack=stack)
        elif kind == "apache":
            one = ApacheConnect(work, topics, jars=jars)
        else:
            one = Standalone(work, topics)
        one.start()
        ending.callback(lambda: one.end(is_clean=True))
        yield one


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jars", type=Path, default=Path.home() / ".cache" / "connect-core" / "peers")
    parser.add_argument("--on", default="apache,standalone,airflow")
    parser.add_argument("--only", default=",".join(SCENARIOS))
    parser.add_argument("--write", type=Path)
    given = parser.parse_args(arguments)
    names, found = given.only.split(","), {}
    with tempfile.TemporaryDirectory(prefix="connect-mirror-") as folder:
        for kind in given.on.split(","):
            with deployment(kind, Path(folder), given.jars) as one:
                for name in names:
                    found[one.name, name] = SCENARIOS[name](one)
                    print(f"{one.name} | {name} | {found[one.name, name]}", flush=True)
    table = _table(names, found)
    print(table)
    if given.write:
        before, _, rest = given.write.read_text().partition(_BEGIN)
        given.write.write_text(f"{before}{_BEGIN}\n{table}{_END}{rest.partition(_END)[2]}")


def _table(names: list[str], found: dict[tuple[str, str], str]) -> str:
    kinds = list(dict.fromkeys(kind for kind, _ in found))
    lines = [f"| scenario | {' | '.join(kinds)} |", f"|---{'|---' * len(kinds)}|"]
    lines += [f"| {name} | {' | '.join(found[kind, name] for kind in kinds)} |" for name in names]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
