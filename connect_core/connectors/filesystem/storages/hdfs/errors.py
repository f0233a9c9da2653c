"""Translates HDFS's errors to errors with a remedy."""

from __future__ import annotations

import re

from connect_core.errors import ConnectError, RetriableError

__all__ = ["translated"]

_REMOTE = re.compile(r'\w+Error\("([\w.$]+)", "(.*)"\)\Z', re.DOTALL)
_REMEDIES = (
    ("SafeModeException", "it is in safe mode: wait until it leaves it (hdfs dfsadmin -safemode get)"),
    (
        "QuotaExceededException",
        "a quota is used up: raise it (hdfs dfsadmin -setSpaceQuota, -setQuota) or remove files",
    ),
    ("AccessControlException", "give the folder to the user of the worker, which HADOOP_USER_NAME names"),
    ("could only be written to 0 of the", "no DataNode takes the block: start one, or make room on them"),
    ("StandbyException", "no NameNode is active: fail over to one"),
    ("NoSASLMechanism", "it asks for a login that the worker has not: run kinit for the worker's user"),
)
_BAD_NAMES = ("InvalidPathException", "PathComponentTooLongException", "MaxDirectoryItemsExceededException")


def translated(error: BaseException, address: str, seconds: float) -> ConnectError:
    """Return the error to raise: RetriableError, as HDFS may accept it later; ConnectError for invalid names."""
    if isinstance(error, TimeoutError):
        text = f"HDFS at {address} has not answered within {seconds:g} s: see whether its NameNode and DataNodes run"
        return RetriableError(text)
    found = _REMOTE.match(str(error))
    kind, message = (found[1], found[2]) if found else (type(error).__name__, str(error))
    reason = re.split(r"\\n|\n", message)[0][:500]
    if kind.endswith(_BAD_NAMES):
        return ConnectError(f"HDFS at {address} takes no such name: {reason}")
    if isinstance(error, OSError):
        remedy = "see whether its NameNode and DataNodes run, and whether path has the right host and port"
    else:
        remedy = next((text for sign, text in _REMEDIES if sign in kind or sign in reason), "see the NameNode's log")
    return RetriableError(f"HDFS at {address} fails: {kind.rpartition('.')[2]}: {reason}; {remedy}")
