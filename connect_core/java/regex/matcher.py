"""The program of the process that matches patterns without a time bound: it may be killed at any time.

It reads one JSON request per line from standard input and writes one response per line. It is run as text,
so that it works from an archive, and imports nothing of this project.
"""

import json
import re
import resource
import sys
import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import groupby
from typing import Any

__all__ = ["ACTS", "allow_time", "answer", "category", "compiled", "describe", "in_python", "match", "refuse", "say"]

_MEMORY = 512 << 20
_SECONDS = 1
_TOKEN = re.compile(r"\\(?:([pP])\{([A-Za-z]{1,2})\}|([Zz])|(.))", re.DOTALL)
_END = r"(?=(?:\r\n|[\n\r\u0085\u2028\u2029])?\Z)"


@cache
def category(name: str, negated: bool) -> str:
    """Return the ranges of a general category of Unicode, or of its complement, as the contents of a class."""
    codes = range(sys.maxunicode + 1)
    members = (code for code in codes if unicodedata.category(chr(code)).startswith(name) is not negated)
    runs = groupby(enumerate(members), lambda pair: pair[1] - pair[0])
    spans = [[code for _, code in run] for _, run in runs]
    return "".join(f"\\U{span[0]:08x}-\\U{span[-1]:08x}" for span in spans)


def in_python(pattern: str) -> str:
    """Return a translated pattern in Python's syntax."""

    def said(token: re.Match[str]) -> str:
        sign, name, anchor, _ = token.groups()
        if name:
            return category(name, sign == "P")
        return {"Z": _END, "z": r"\Z"}[anchor] if anchor else token[0]

    return _TOKEN.sub(said, pattern)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a translated pattern. Raise re.error."""
    return re.compile(in_python(pattern), re.ASCII)


def describe(question: dict[str, Any]) -> dict[str, Any]:
    """Compile a pattern → the number of its groups and their names."""
    pattern = compiled(question["pattern"])
    return {"groups": pattern.groups, "names": dict(pattern.groupindex)}


def refuse(question: dict[str, Any]) -> dict[str, Any]:
    """Compile a pattern in its original form, to get its error."""
    re.compile(question["pattern"])
    return {}


def match(question: dict[str, Any]) -> dict[str, Any]:
    """Match texts → for each, the spans of its groups, or none if it does not match."""
    pattern = compiled(question["pattern"])
    ask = pattern.fullmatch if question["whole"] else pattern.search
    found = [ask(text) for text in question["texts"]]
    return {"spans": [one and [one.span(group) for group in range(pattern.groups + 1)] for one in found]}


ACTS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {"describe": describe, "refuse": refuse, "match": match}


def allow_time() -> None:
    """Let the system end this process after one to two more seconds of CPU time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + _SECONDS, most))


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Return the response to a request, or its error."""
    try:
        return ACTS[question["act"]](question)
    except re.error as error:
        return {"error": error.msg, "at": error.pos or 0}
    except (RecursionError, OverflowError, MemoryError) as error:
        return {"error": f"it is too large ({type(error).__name__})", "at": 0}


def say(found: dict[str, Any]) -> None:
    """Write one line and flush it."""
    sys.stdout.write(f"{json.dumps(found)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    say({})
    for line in sys.stdin:
        allow_time()
        say(answer(json.loads(line)))
