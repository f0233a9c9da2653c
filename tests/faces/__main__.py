"""``python -m tests.faces``: replay the transcript against both faces over Airflow, each in a stack of its own."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from tests.faces.stack import running_faces
from tests.rest.replaying import assert_replayed

__all__ = ["main"]


def main() -> None:
    """Print how long each face took; raise AssertionError with the steps that were answered otherwise."""
    for name in ("connect rest", "in Airflow"):
        # A stack each: the transcript begins with no connector, and ends with some that no path can name.
        with tempfile.TemporaryDirectory(prefix="connect-faces-") as folder, running_faces(Path(folder)) as faces:
            is_mounted = name == "in Airflow"
            base = faces.mounted if is_mounted else faces.rest
            header = f"Authorization: {faces.header['Authorization']}" if is_mounted else None
            began = time.monotonic()
            assert_replayed(base, faces.folder / name.replace(" ", "-"), header=header)
            print(f"{name}: every step as the real worker, {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
