"""Transactional ids of a connector's producers: equal for equal parts, different for different ones."""

from __future__ import annotations

import hashlib
import json

__all__ = ["control_id", "transactional_id"]

_READABLE = 60


def transactional_id(deployment: str, connector: str, task: int) -> str:
    """Return the transactional id of a task's producer.

    Readable, with a hash over the separate parts: a + b.c and a.b + c have different ids. All ids of a deployment share
    a prefix, for ACLs.
    """
    return _identity(deployment, connector, str(task))


def control_id(deployment: str, connector: str) -> str:
    """Return the transactional id of the connector's control producer (plan/README.md#rules, 2)."""
    return _identity(deployment, connector, "control")


def _identity(deployment: str, connector: str, role: str) -> str:
    digest = hashlib.sha256(json.dumps([deployment, connector, role]).encode()).hexdigest()[:24]
    return f"connect-{deployment[:_READABLE]}-{connector[:_READABLE]}-{role}-{digest}"
