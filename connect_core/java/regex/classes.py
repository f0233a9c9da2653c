"""Character classes of Java's regular expressions, translated for RE2 and Python.

Characters are written as themselves; general categories as ``\\p{Lu}``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from connect_core.errors import IllegalArgumentError

__all__ = ["read_class", "read_escape"]

_POSIX = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": r"\x00-\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": r" \t",
    "Cntrl": r"\x00-\x1f\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": r" \t\n\x0b\f\r",
}
_CATEGORIES = frozenset(
    "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp".split()  # noqa: SIM905
)
_HORIZONTAL = " \\t\xa0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000"
_VERTICAL = "\\n\\x0b\\f\\r\x85\u2028\u2029"
_CLASSES = {"d": "0-9", "w": "a-zA-Z0-9_", "s": r" \t\n\x0b\f\r", "h": _HORIZONTAL, "v": _VERTICAL}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_PROPERTY = re.compile(r"\\([pP])(?:\{\^?([A-Za-z_= ]+)\}|([A-Za-z]))")
_CODE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|x\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|0([0-3]?[0-7]{1,2}))")


def read_escape(pattern: str, at: int) -> tuple[str, int]:
    """Return the translation of an escape outside a class, and its end."""
    content, negated, end = _read_escape(pattern, at)
    if len(content) == 1 or (content.startswith("\\") and len(content) == 2):
        return content, end
    return f"[{'^' if negated else ''}{content}]", end


def read_class(pattern: str, at: int) -> tuple[str, int]:
    """Return the translation of a class in brackets, and its end. Raise IllegalArgumentError if it is not closed."""
    reader = _ClassReader(pattern, at)
    return reader.read(), reader.at


@dataclass(slots=True)
class _Union:
    """A union of plain characters and of nested classes, which are expressions of their own."""

    plain: str = ""
    nested: list[str] = field(default_factory=list)

    def expression(self) -> str:
        options = ([f"[{self.plain}]"] if self.plain else []) + self.nested
        return options[0] if len(options) == 1 else f"(?:{'|'.join(options)})"


class _ClassReader:
    def __init__(self, pattern: str, at: int) -> None:
        self._pattern = pattern
        self._start = at
        self.at = at + 1

    def read(self) -> str:
        negated = self._peek() == "^"
        self.at += negated
        unions = [_Union()]
        first = True
        while first or self._peek() != "]":
            if self._pattern.startswith("&&", self.at):
                unions.append(_Union())
                self.at += 2
            else:
                self._item(unions[-1])
            first = False
        self.at += 1
        return _combined([union for union in unions if union.plain or union.nested], negated)

    def _item(self, union: _Union) -> None:
        character = self._peek()
        if character == "[":
            nested = _ClassReader(self._pattern, self.at)
            union.nested.append(nested.read())
            self.at = nested.at
            return
        content, negated = self._single()
        if negated:
            union.nested.append(f"[^{content}]")
        elif self._peek() == "-" and self._pattern[self.at + 1 : self.at + 2] not in ("]", "[", ""):
            self.at += 1
            last, _ = self._single()
            union.plain += f"{content}-{last}"
        else:
            union.plain += content

    def _single(self) -> tuple[str, bool]:
        character = self._peek()
        if character == "\\":
            content, negated, self.at = _read_escape(self._pattern, self.at)
            return content, negated
        self.at += 1
        return _quoted(character), False

    def _peek(self) -> str:
        if self.at >= len(self._pattern):
            raise IllegalArgumentError(f"Unclosed character class near index {self._start} in {self._pattern}")
        return self._pattern[self.at]


def _combined(unions: list[_Union], negated: bool) -> str:
    if len(unions) == 1 and not unions[0].nested:
        return f"[{'^' if negated else ''}{unions[0].plain}]"
    expressions = [union.expression() for union in unions]
    whole = "".join(f"(?={expression})" for expression in expressions[:-1]) + expressions[-1]
    return rf"(?:(?!{whole})[\s\S])" if negated else f"(?:{whole})"


def _read_escape(pattern: str, at: int) -> tuple[str, bool, int]:
    """Return the content of a class, whether it is negated, and the end of the escape."""
    letter = pattern[at + 1 : at + 2]
    prop, code = _PROPERTY.match(pattern, at), _CODE.match(pattern, at)
    if prop is not None:
        return *_read_property(prop), prop.end()
    if code is not None:
        digits, octal = code.group(1) or code.group(2) or code.group(3), code.group(4)
        return _quoted(chr(int(digits, 16) if digits else int(octal, 8))), False, code.end()
    if letter in ("D", "W"):
        return f"\\{letter}", False, at + 2
    if letter.lower() in _CLASSES:
        return _CLASSES[letter.lower()], letter.isupper(), at + 2
    if letter in _CONTROLS:
        return _quoted(_CONTROLS[letter]), False, at + 2
    if letter == "c" and len(pattern) > at + 2:
        return _quoted(chr(ord(pattern[at + 2]) ^ 64)), False, at + 3
    if not letter or letter.isalnum():
        raise IllegalArgumentError(f"Illegal/unsupported escape sequence near index {at + 1} in {pattern}")
    return _quoted(letter), False, at + 2


def _read_property(prop: re.Match[str]) -> tuple[str, bool]:
    content, negated = _property(prop.group(2) or prop.group(3)), prop.group(1) == "P"
    if negated and content.startswith("\\p"):
        return f"\\P{content[2:]}", False
    return content, negated


def _quoted(character: str) -> str:
    return character if character.isalnum() else re.escape(character) if character in _META else character


_META = set("\\^-[]&~|.$*+?(){}# \t\n\r\x0b\x0c/\"'`!%,:;<=>@")


def _property(name: str) -> str:
    if name in _POSIX:
        return _POSIX[name]
    category = name.removeprefix("Is").rpartition("=")[2]
    category = {"Alphabetic": "L", "Letter": "L", "Uppercase": "Lu", "Lowercase": "Ll", "Digit": "Nd"}.get(
        category, category
    )
    if category not in _CATEGORIES:
        raise IllegalArgumentError(f"Unknown character property name {{{name}}}")
    return f"\\p{{{category}}}"
