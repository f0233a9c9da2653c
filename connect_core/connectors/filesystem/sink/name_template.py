"""Names of files by a template with variables, in place of the usual names and folders."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from connect_core.connectors.filesystem.partitioners.hive import NO_VALUE
from connect_core.errors import ConfigError

__all__ = ["TIME_FOLDERS", "NameTemplate"]

TIME_FOLDERS = "yyyy/MM/dd/HH"
"""The ``path.format`` of folders from which a template takes the units of time."""

_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*(?::\s*(\w+)\s*=\s*(\w+)\s*)?\}\}")
_TEXT = re.compile(r"[^\x00-\x1f\x7f\\{}]{0,500}\Z")
_NEEDED = ("topic", "partition", "start_offset")
_UNITS = tuple(TIME_FOLDERS.split("/"))
_DIGITS = {"partition": 10, "start_offset": 20}
"""The width of numbers if padding=true requests leading zeros."""


@dataclass(frozen=True, slots=True)
class NameTemplate:
    """Alternating texts and variables; each variable with its parameter."""

    texts: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, key: str, given: str) -> NameTemplate:
        """Parse a template. Raises ConfigError, naming the key, for one that could give two files the same name."""
        found = [(one[1], one[2], one[3]) for one in _VARIABLE.finditer(given)]
        texts = _VARIABLE.split(given)[::4]
        for name, parameter, value in found:
            _check_variable(key, given, (name, parameter or "", value or ""))
        missing = [name for name in _NEEDED if name not in {variable for variable, *_ in found}]
        if missing:
            text = "topic, partition and start_offset distinguish files; add {{" + "}} and {{".join(missing) + "}}"
            raise ConfigError(key, given, text)
        if not all(_TEXT.match(text) for text in texts) or _is_hidden(given):
            text = "write a path below the root, no part of of which is empty or begins with a period or an underscore"
            raise ConfigError(key, given, text)
        variables = tuple((name, value or "") for name, _, value in found)
        _check_apart(key, given, texts, variables)
        return cls(tuple(texts), variables)

    @property
    def needs_time(self) -> bool:
        """Whether there are units of time, which are taken from the partitioner's folders."""
        return any(name == "timestamp" for name, _ in self.variables)

    def render(self, topic: str, partition: int, start_offset: int, folder: str) -> str:
        """Return a name; ``folder`` has the form of ``TIME_FOLDERS`` if there are units of time."""
        told = folder.split("/")
        # Null records have no time if it is that of a field.
        units = dict(zip(_UNITS, told if len(told) == len(_UNITS) else [NO_VALUE] * len(_UNITS), strict=True))
        numbers = {"partition": partition, "start_offset": start_offset}
        parts = [self.texts[0]]
        for (name, value), text in zip(self.variables, self.texts[1:], strict=True):
            if name in numbers:
                parts.append(f"{numbers[name]:0{_DIGITS[name] if value == 'true' else 1}d}")
            else:
                parts.append(units[value] if name == "timestamp" else topic)
            parts.append(text)
        return "".join(parts)


def _check_variable(key: str, given: str, variable: tuple[str, str, str]) -> None:
    name, parameter, value = variable
    fits = (
        (name == "topic" and not parameter)
        or (name in _DIGITS and (not parameter or (parameter == "padding" and value in ("true", "false"))))
        or (name == "timestamp" and parameter == "unit" and value in _UNITS)
    )
    if not fits:
        known = (
            "topic, partition and start_offset (these two also with padding=true), timestamp with unit=yyyy, MM, dd, HH"
        )
        raise ConfigError(key, given, f"{name} is not a variable of this form; there are {known}")


def _check_apart(key: str, given: str, texts: Sequence[str], variables: Sequence[tuple[str, str]]) -> None:
    """Raise ConfigError if digits of one variable could be those of another: 1 and 23 would be 12 and 3."""
    before, between = "", ""
    for (name, value), text in zip(variables, texts, strict=False):
        between += text
        if name == "timestamp" or (name in _DIGITS and value == "true"):
            # Its width is fixed: it neither takes digits of others nor separates them.
            continue
        if before and not re.search(r"\D", between):
            remedy = (
                f"files could have the same name; separate {{{{{before}}}}} and {{{{{name}}}}} by other than digits"
            )
            raise ConfigError(key, given, f"{remedy}: {{{{{before}}}}}-{{{{{name}}}}}")
        before, between = name, ""


def _is_hidden(given: str) -> bool:
    return any(not part or part[0] in "._" for part in given.split("/"))
