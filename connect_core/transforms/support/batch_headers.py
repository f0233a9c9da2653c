"""Changes the headers of a batch's rows, once per distinct ``Headers`` object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from connect_core.api.batch import Batch
from connect_core.api.headers import Headers

__all__ = ["with_changed_headers"]


def with_changed_headers(batch: Batch, change: Callable[[Headers], Headers]) -> Batch:
    """Return the batch with ``change`` applied to every row's headers; rows may share the result."""
    if batch.headers is None:
        headers = change(Headers())
        return replace(batch, headers=(headers,) * len(batch)) if len(headers) else batch
    distinct = {id(headers): headers for headers in batch.headers}
    changed = {key: change(headers) for key, headers in distinct.items()}
    return replace(batch, headers=tuple(map(changed.__getitem__, map(id, batch.headers))))
