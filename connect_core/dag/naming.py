"""The DAG id of a connector: computed from its name, never taken from a caller."""

from __future__ import annotations

import hashlib
import re

__all__ = ["HOUSEKEEPING_DAG_ID", "TAG", "TASK_ID", "VERIFICATION_DAG_ID", "dag_id_of"]

HOUSEKEEPING_DAG_ID = "connect_housekeeping"
VERIFICATION_DAG_ID = "connect_verification"
TASK_ID = "run"
TAG = "connect"
"""The tag by which all DAGs of connectors are found in Airflow."""

_SLUG_LENGTH = 60
_HASH_DIGITS = 16


def dag_id_of(connector: str) -> str:
    """Return the DAG id: a readable slug, and 64 bits of a hash that make it unique."""
    slug = re.sub(r"[^A-Za-z0-9_]+", "-", connector).strip("-")[:_SLUG_LENGTH]
    digest = hashlib.sha256(connector.encode()).hexdigest()[:_HASH_DIGITS]
    return f"{slug or 'connector'}-{digest}"
