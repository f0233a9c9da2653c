"""``python -m tests.faces``: replay the transcript against both faces over Airflow, in an empty stack of its own."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from tests.faces.stack import running_faces
from tests.rest.replaying import assert_replayed

__all__ = ["main"]


def main() -> None:
    """Print how long each face took; raise AssertionError with the steps that were answered otherwise."""
    with tempfile.TemporaryDirectory(prefix="connect-faces-") as folder, running_faces(Path(folder)) as faces:
        header = f"Authorization: {faces.header['Authorization']}"
        for name, base, given in (("connect rest", faces.rest, None), ("in Airflow", faces.mounted, header)):
            began = time.monotonic()
            assert_replayed(base, faces.folder / name.replace(" ", "-"), header=given)
            print(f"{name}: every step as the real worker, {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
