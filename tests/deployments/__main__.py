"""``python -m tests.deployments``: replay the transcript on both deployments over Airflow, each in its own stack."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from tests.deployments.stack import running_deployments
from tests.rest.replaying import assert_replayed

__all__ = ["main"]


def main() -> None:
    """Print how long each deployment took; raise AssertionError with the steps that were answered otherwise."""
    for name in ("connect rest", "in Airflow"):
        # A stack each: the transcript begins with no connector, and ends with some that no path can name.
        with (
            tempfile.TemporaryDirectory(prefix="connect-deployments-") as folder,
            running_deployments(Path(folder)) as deployments,
        ):
            is_mounted = name == "in Airflow"
            base = deployments.mounted if is_mounted else deployments.rest
            header = f"Authorization: {deployments.header['Authorization']}" if is_mounted else None
            began = time.monotonic()
            assert_replayed(base, deployments.folder / name.replace(" ", "-"), header=header)
            print(f"{name}: every step as the real worker, {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
