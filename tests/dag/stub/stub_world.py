"""The stand-in's world: a folder of small JSON files that tests write and read."""

import json
import os
import time
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ.get("CONNECT_STUB_FOLDER", "/nonexistent"))


def path(connector: str, ending: str) -> Path:
    """The file that holds something about a connector."""
    return FOLDER / f"{connector.replace('/', '_')}.{ending}"


def facts(connector: str) -> dict[str, Any]:
    """What a test has said of a connector: records that wait, how runs behave."""
    file = path(connector, "json")
    for _ in range(50):
        try:
            found: dict[str, Any] = json.loads(file.read_text())
            return found
        except FileNotFoundError:
            return {}
        except ValueError:
            time.sleep(0.01)
    return {}


def say(connector: str, **changes: Any) -> None:
    """Change the facts of a connector."""
    file = path(connector, "json")
    staged = file.with_suffix(f".{os.getpid()}")
    staged.write_text(json.dumps({**facts(connector), **changes}))
    staged.rename(file)


def note(connector: str, event: str, /, **details: Any) -> None:
    """Tell the test what happened."""
    with path(connector, "log").open("a") as log:
        log.write(json.dumps({"event": event, "at": time.time(), **details}) + "\n")


def events(connector: str) -> list[dict[str, Any]]:
    """What happened to a connector so far."""
    file = path(connector, "log")
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
