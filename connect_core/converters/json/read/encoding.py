"""Decodes bytes to text as Jackson does, detecting the encoding."""

from __future__ import annotations

from connect_core.errors import DataError

__all__ = ["decode"]

_MARKS = (
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xef\xbb\xbf", "utf-8"),
)


def decode(data: bytes) -> str:
    """Return the text of UTF-8, 16 or 32, distinguished by byte order mark or zero bytes.

    UTF-8 is decoded leniently: overlong forms and encoded surrogates are accepted. Raise
    DataError for bytes in another encoding.
    """
    for mark, name in _MARKS:
        # Jackson looks for marks only in four bytes or more: a mark alone is an error, not an empty document.
        if len(data) >= 4 and data.startswith(mark):
            return _decode(data[len(mark) :], name)
    return _decode(data, _guess(data[:4]))


def _guess(head: bytes) -> str:
    zeros = tuple(byte == 0 for byte in head)
    if len(head) == 4:
        if zeros[:3] == (True, True, True):
            return "utf-32-be"
        if zeros[1:] == (True, True, True):
            return "utf-32-le"
    if len(head) >= 2 and any(zeros[:2]) and not all(zeros[:2]):
        return "utf-16-be" if zeros[0] else "utf-16-le"
    return "utf-8"


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode(name, "surrogatepass" if name != "utf-8" else "strict")
    except UnicodeDecodeError as error:
        if name == "utf-8":
            return _decode_leniently(data)
        raise DataError(f"invalid {name} text: {error.reason} at byte {error.start + 1}") from error


def _decode_leniently(data: bytes) -> str:
    characters: list[str] = []
    at = 0
    while at < len(data):
        lead = data[at]
        length = _length(lead)
        if length == 0:
            raise DataError(f"invalid UTF-8 start byte 0x{lead:02x} at byte {at + 1}")
        tail = data[at + 1 : at + length]
        broken = next((byte for byte in tail if byte & 0xC0 != 0x80), None)
        if broken is not None or len(tail) < length - 1:
            what = "the input ends" if broken is None else f"middle byte 0x{broken:02x}"
            raise DataError(f"invalid UTF-8: {what} in the character at byte {at + 1}")
        characters.append(_character(lead, tail))
        at += length
    return "".join(characters)


def _length(lead: int) -> int:
    if lead < 0x80:
        return 1
    return next((size for size, mask, bits in _LEADS if lead & mask == bits), 0)


_LEADS = ((2, 0xE0, 0xC0), (3, 0xF0, 0xE0), (4, 0xF8, 0xF0))


def _character(lead: int, tail: bytes) -> str:
    code = lead if not tail else lead & 0x7F >> len(tail) + 1
    for byte in tail:
        code = code << 6 | byte & 0x3F
    if code > 0x10FFFF:
        raise DataError(f"invalid UTF-8: no character has the number 0x{code:x}")
    return chr(code)
