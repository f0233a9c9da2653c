"""Dead letters that are too large for Kafka go out without their longest parts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace

from connect_core.api.offsets import canonical
from connect_core.errors import DataError
from connect_core.kafka.dead_letters import DeadLetter, ErrorContext

__all__ = ["LEFT_OUT_HEADER", "send_shortened"]

_LOG = logging.getLogger(__name__)

LEFT_OUT_HEADER = "__connect.errors.value.left.out.bytes"
"""The size of a value that did not fit; the letter's own value is empty. Not in Connect."""

Send = Callable[[DeadLetter, ErrorContext], DataError | None]
"""Sends a letter; returns the error if it is too large."""


def send_shortened(letter: DeadLetter, context: ErrorContext, has_context: bool, send: Send) -> None:
    """Send a letter, and if it is too large, less and less of it. Raises as ``send``.

    As in Connect, a letter that cannot be sent in any form is logged only: each retry would meet the same record.
    """
    refusal: DataError | None = None
    for left_out, one, about in _forms(letter, context, has_context):
        refused = send(one, about)
        if refused is None:
            if refusal is not None:
                _LOG.warning("the dead letter of %s was sent without its %s: %s", _place(letter), left_out, refusal)
            return
        refusal = refused
    _LOG.error("the dead letter of %s is lost, as its key and headers are too large: %s", _place(letter), refusal)


def _forms(
    letter: DeadLetter, context: ErrorContext, has_context: bool
) -> Iterator[tuple[str, DeadLetter, ErrorContext]]:
    """Return what was left out and what remains, the whole letter first."""
    yield "", letter, context
    if has_context:
        context = replace(context, trace=None)
        yield "stack trace", letter, context
        context = replace(context, message=None)
        yield "stack trace and error message", letter, context
    if letter.value:
        headers = [*letter.headers, (LEFT_OUT_HEADER, str(len(letter.value)).encode())]
        # Not null, which deletes a key in a compacted topic.
        yield "value", replace(letter, value=b"", headers=headers), context


def _place(letter: DeadLetter) -> str:
    if letter.source is not None:
        return "source partition {}, source offset {}".format(*map(canonical, letter.source))
    return f"topic {letter.topic}, partition {letter.partition}, offset {letter.offset}"
