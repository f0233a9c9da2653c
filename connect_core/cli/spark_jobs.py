"""Ids of Spark jobs by the tag of their interval, from the REST API of the Spark UI."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import httpx

__all__ = ["job_ids"]

_TAG = "_Tag_"
"""Separates the session's name, which Spark Connect prepends, from a client's tag."""


def job_ids(address: str) -> Mapping[str, list[int]]:
    """Return the job ids a Spark server still lists, by tag, the oldest first; none if its UI does not answer."""
    found: dict[str, list[int]] = defaultdict(list)
    with contextlib.suppress(httpx.HTTPError, ValueError), httpx.Client(base_url=address, timeout=5) as client:
        for application in _get(client, ""):
            for job in reversed(_get(client, f"/{application['id']}/jobs")):
                for tag in job.get("jobTags", ()):
                    found[tag.rpartition(_TAG)[2]].append(job["jobId"])
    return found


def _get(client: httpx.Client, path: str) -> Any:
    return client.get(f"/api/v1/applications{path}").raise_for_status().json()
