"""Freed memory is used again, in a process of its own as the C library cannot be reset."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these settings")

BLOCKS, BYTES, ROUNDS = 8, 5 << 20, 20
PAGES = BLOCKS * BYTES // 4096
PROGRAM = f"""
import ctypes, resource, sys, threading

from connect_core.run.memory_allocation import keep_freed_memory

if sys.argv[1] == "kept":
    keep_freed_memory()
library = ctypes.CDLL(None)
library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
library.free.argtypes = [ctypes.c_void_p]
library.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]


def use() -> None:
    for _ in range({ROUNDS}):
        blocks = [library.malloc({BYTES}) for _ in range({BLOCKS})]
        for block in blocks:
            library.memset(block, 1, {BYTES})
        for block in blocks:
            library.free(block)


def faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


before = faults()
thread = threading.Thread(target=use)
thread.start()
thread.join()
print(faults() - before)
"""


def faults(how: str, **environment: str) -> int:
    """Return how many pages a thread that allocates and frees the same memory gets from the kernel."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", PROGRAM, how]
    return int(subprocess.run(command, env={**clean, **environment}, capture_output=True, check=True).stdout)


def test_memory_that_was_freed_is_not_asked_for_again() -> None:
    assert faults("as it is") > ROUNDS / 2 * PAGES
    assert faults("kept") < 2 * PAGES


def test_settings_of_the_environment_are_left_alone() -> None:
    assert faults("kept", MALLOC_ARENA_MAX="4") > ROUNDS / 2 * PAGES
