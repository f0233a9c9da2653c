"""Parameters of paths and queries, parsed as in Java."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Depends, Path
from starlette.requests import Request

from connect_core.errors import NotFoundError

__all__ = ["Name", "TaskNumber", "is_true"]

_NUMBER = re.compile(r"[+-]?[0-9]{1,10}")
_LARGEST = 2**31 - 1

Name = Annotated[str, Path(alias="connector", description="Name of the connector")]


def is_true(request: Request, name: str, default: bool = False) -> bool:
    """Return a boolean query parameter; anything but ``true`` is false, as in Java."""
    given = request.query_params.getlist(name)
    return given[0].lower() == "true" if given else default


def _task_number(task: Annotated[str, Path(description="Number of the task, from 0")]) -> int:
    if not _NUMBER.fullmatch(task) or not -_LARGEST <= int(task) <= _LARGEST:
        raise NotFoundError("HTTP 404 Not Found")
    return int(task)


TaskNumber = Annotated[int, Depends(_task_number)]
