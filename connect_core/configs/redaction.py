"""Removes a connector's secrets from the errors of its code, before they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from connect_core.configs.hiding import TELLING, secret_forms
from connect_core.configs.providers import ConfigProviders
from connect_core.configs.secrets import HIDDEN, is_reference, is_sealed, sensitive_keys
from connect_core.errors import ConnectError

__all__ = ["Redaction"]


@dataclass(slots=True)
class Redaction:
    """Puts references back in place of their values in a text, and ``[hidden]`` in place of other secrets.

    One is made for each task; the values of secrets are looked up only at its
    first error. A secret of less than four characters is not replaced.
    """

    raw: Mapping[str, str] = field(default_factory=dict)
    providers: ConfigProviders = field(default_factory=ConfigProviders)
    owner: str = ""
    _shown: Mapping[str, str] | None = None

    def texts(self) -> Mapping[str, str]:
        """Return what is shown in place of each secret, the longest first."""
        if self._shown is None:
            self._shown = self._look_up()
        return self._shown

    def __call__(self, text: str) -> str:
        """Return a text without secrets."""
        for secret, shown in self.texts().items():
            text = text.replace(secret, shown)
        return text

    def clean(self, error: BaseException) -> BaseException:
        """Remove the secrets from an error, its notes and its causes → the error, or a substitute.

        A substitute is returned if the error's text is not made of its arguments.
        """
        for one in _chain(error):
            self._clean_one(one)
        if self._tells(error):
            return ConnectError(f"{type(error).__name__}: {self(str(error))}")
        for one in _chain(error):
            if one.__cause__ is not None and self._tells(one.__cause__):
                one.__cause__ = None
            if one.__context__ is not None and self._tells(one.__context__):
                one.__context__ = None
        return error

    def _clean_one(self, error: BaseException) -> None:
        if self._tells(error):
            error.args = (self(str(error)),)
        notes = getattr(error, "__notes__", None)
        if notes:
            notes[:] = [self(note) for note in notes]

    def _tells(self, error: BaseException) -> bool:
        text = str(error)
        return self(text) != text

    def _look_up(self) -> dict[str, str]:
        found = self.providers.secrets(self.raw, self.owner)
        shown = {secret: HIDDEN if is_sealed(text) else text for secret, text in found.items()}
        sensitive = sensitive_keys(self.raw)
        shown |= {value: HIDDEN for key, value in self.raw.items() if key in sensitive and not is_reference(value)}
        forms = {form: text for secret, text in shown.items() for form in secret_forms(secret)}
        longest_first = sorted(forms, key=len, reverse=True)
        return {form: forms[form] for form in longest_first if len(form) >= TELLING}


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all its causes and contexts, each once."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += [one.__cause__, one.__context__]
