"""Translates HDFS's errors to errors with a remedy."""

from __future__ import annotations

import re

from connect_core.errors import ConnectError, RetriableError

__all__ = ["translated"]

_REMOTE = re.compile(r'\w+Error\("([\w.$]+)", "(.*)"\)\Z', re.DOTALL)
_REMEDIES = (
    ("SafeModeException", "it is in safe mode: wait until safe mode ends (hdfs dfsadmin -safemode get)"),
    (
        "QuotaExceededException",
        "a quota is exceeded: raise it (hdfs dfsadmin -setSpaceQuota, -setQuota) or remove files",
    ),
    ("AccessControlException", "make the worker's user, set by HADOOP_USER_NAME, the owner of the folder"),
    ("could only be written to 0 of the", "no DataNode accepts the block: start one, or free up space on them"),
    ("StandbyException", "no NameNode is active: fail over to one"),
    ("NoSASLMechanism", "it requires a login that the worker does not have: run kinit for the worker's user"),
)
_BAD_NAMES = ("InvalidPathException", "PathComponentTooLongException", "MaxDirectoryItemsExceededException")


def translated(error: BaseException, address: str, seconds: float) -> ConnectError:
    """Return the error to raise: RetriableError, as HDFS may accept it later; ConnectError for invalid names."""
    if isinstance(error, TimeoutError):
        text = f"HDFS at {address} did not respond in {seconds:g} s: check that its NameNode and DataNodes run"
        return RetriableError(text)
    found = _REMOTE.match(str(error))
    kind, message = (found[1], found[2]) if found else (type(error).__name__, str(error))
    reason = re.split(r"\\n|\n", message)[0][:500]
    if kind.endswith(_BAD_NAMES):
        return ConnectError(f"HDFS at {address} does not allow this name: {reason}")
    if isinstance(error, OSError):
        remedy = "check that its NameNode and DataNodes are running, and that path has the right host and port"
    else:
        remedy = next((text for sign, text in _REMEDIES if sign in kind or sign in reason), "see the NameNode's log")
    return RetriableError(f"HDFS at {address} failed: {kind.rpartition('.')[2]}: {reason}; {remedy}")
