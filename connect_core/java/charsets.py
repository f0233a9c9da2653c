"""Character sets by their Java names, with Java's handling of malformed text."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from connect_core.errors import SerializationError

__all__ = ["Charset", "find_charset"]

_LEGAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.:_-]*")
_NOT_IN_JAVA = re.compile(
    r"utf-7|idna|punycode|unicode_escape|raw_unicode_escape|undefined|mbcs|oem|palmos", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Charset:
    """A character set: ``mark`` is written before every text."""

    name: str
    mark: bytes = b""

    @property
    def is_utf8(self) -> bool:
        """Whether this is UTF-8."""
        return self.name == "utf-8"

    def encode(self, text: str) -> bytes:
        """Return the bytes; characters that the set lacks become ``?``."""
        return self.mark + text.encode(self.name, "replace")

    def decode(self, data: bytes) -> str:
        """Return the text; malformed bytes become U+FFFD."""
        if self.mark:
            return _decode_marked(data)
        return data.decode(self.name, "connect.replace")


def find_charset(name: str | None) -> Charset:
    """Return the set with a Java name. Raise SerializationError for an unknown one."""
    try:
        if name is None or _LEGAL.fullmatch(name) is None:
            raise LookupError(name)
        codec = codecs.lookup(name)
        "".encode(codec.name)
    except LookupError as error:
        raise SerializationError(f"Unsupported encoding {name}") from error
    if _NOT_IN_JAVA.fullmatch(codec.name):
        raise SerializationError(f"Unsupported encoding {name}")
    if codec.name == "utf-16":
        return Charset("utf-16-be", codecs.BOM_UTF16_BE)
    return Charset("utf-32-be" if codec.name == "utf-32" else codec.name)


def _decode_marked(data: bytes) -> str:
    if data.startswith(codecs.BOM_UTF16_LE):
        return data[2:].decode("utf-16-le", "replace")
    return data.removeprefix(codecs.BOM_UTF16_BE).decode("utf-16-be", "replace")


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    data, start = error.object, error.start
    # Java decodes an encoded surrogate as one malformed character, Python as three.
    if _SURROGATE.match(data, start):
        return "\ufffd", start + 3
    return "\ufffd", error.end


_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
codecs.register_error("connect.replace", _replace)
