"""Splits the text of a value at its delimiters. Connect: ``Values.Parser``."""

from __future__ import annotations

from connect_core.java.strings import is_blank, trim

__all__ = ["Tokens"]

_DELIMITERS = frozenset(':,{}[]"')


class Tokens:
    """Delimiters, and the texts between them; a backslash escapes the next delimiter."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._index = 0
        self._next: str | None = None

    def mark(self) -> int:
        """Return the position of the next token, for ``rewind``."""
        return self._index - (0 if self._next is None else len(self._next))

    def rewind(self, mark: int) -> None:
        """Go back to a position."""
        self._index = mark
        self._next = None

    def has_next(self) -> bool:
        """Return whether there is another token."""
        return self._next is not None or self._index < len(self.text)

    def next(self) -> str:
        """Return the next token."""
        if self._next is None:
            return self._consume()
        token, self._next = self._next, None
        return token

    def next_run(self, count: int) -> str | None:
        """Return several tokens as one text; if there are fewer, return ``None`` and consume nothing."""
        start = self.mark()
        for _ in range(count):
            if not self.has_next():
                self.rewind(start)
                return None
            self.next()
        return self.text[start : self._index]

    def can_consume(self, expected: str) -> bool:
        """Skip blank tokens; if the next one is as expected, skip it and return true."""
        if not self.has_next():
            return False
        token = self._consume() if self._next is None else self._next
        while is_blank(token) and self._index < len(self.text):
            token = self._consume()
        found = trim(token) == expected
        self._next = None if found else token
        return found

    def _consume(self) -> str:
        start = index = self._index
        escaped = False
        while index < len(self.text):
            character = self.text[index]
            if character == "\\":
                escaped = not escaped
            elif character in _DELIMITERS and not escaped:
                index += start == index
                break
            else:
                escaped = False
            index += 1
        self._index = index
        return self.text[start:index]
