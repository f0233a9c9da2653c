"""The C library's memory while tasks run: what one batch has freed is used for the next one."""

from __future__ import annotations

import ctypes
import os

__all__ = ["keep_freed_memory", "return_freed_memory"]

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Parameters of ``mallopt``, from glibc's ``malloc.h``."""
_LARGEST_KEPT = 32 << 20
_MOST_KEPT = 128 << 20


def keep_freed_memory() -> None:
    """Use freed memory again instead of returning it to the kernel; only glibc can be told to.

    librdkafka unpacks every batch of a broker into memory of its own. With glibc's defaults that memory is returned
    when the batch is done, and the next one gets pages that the kernel clears first: a tenth of the processor time of a
    task that reads JSON with schemas. One pool for all threads also keeps the process small. Environment settings
    (``MALLOC_...``) are left alone.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None or any(name.startswith("MALLOC_") for name in os.environ):
        return
    mallopt(_ARENA_MAX, 1)
    mallopt(_MMAP_THRESHOLD, _LARGEST_KEPT)
    mallopt(_TRIM_THRESHOLD, _MOST_KEPT)


def return_freed_memory() -> None:
    """Return freed memory to the kernel, where the C library can."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
