"""Where properties over random data begin: ``CONNECT_SEED``, else in CI always the same place, elsewhere any."""

from __future__ import annotations

import os
import secrets

__all__ = ["SEED"]

_IN_CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")
SEED = int(os.environ.get("CONNECT_SEED") or (20261122 if _IN_CI else secrets.randbits(32)))
