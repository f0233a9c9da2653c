"""What a validation shows of a configuration: references as they were written, and no secret in any message."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from connect_core.configs.infos import ValidatedConfig, ValidatedSetting
from connect_core.configs.secrets import HIDDEN, is_sealed, sensitive_keys

__all__ = ["TELLING", "Hiding", "secret_forms"]

TELLING = 4
"""Characters of the shortest secret that is replaced everywhere: a shorter one may occur in any text."""
_LEAST_OF_LINE = 12
"""Characters of the shortest line of a secret that is replaced by itself: brackets of a JSON document are none."""

Config = Mapping[str, str | None]


def secret_forms(secret: str) -> Sequence[str]:
    """Return the texts in which a message may contain a secret.

    As it is; as settings read it, trimmed; in JSON; in a URL; and the lines of a long one, such as a private key, which
    may be printed one by one.
    """
    lines = [line.strip() for line in secret.splitlines()] if "\n" in secret.strip() else []
    forms = (secret, secret.strip(), json.dumps(secret)[1:-1], quote(secret, safe=""), *lines)
    return [form for form in dict.fromkeys(forms) if form and (len(form) >= _LEAST_OF_LINE or form not in lines)]


@dataclass(frozen=True, slots=True)
class Hiding:
    """``shown``: setting → what is shown of its value. ``texts``: secret → what is shown of it, the longest first."""

    shown: Mapping[str, str]
    texts: Mapping[str, str]
    config: Config

    @classmethod
    def of(cls, raw: Config, config: Config, secrets: Mapping[str, str]) -> Hiding:
        """``config``: with references replaced; ``secrets``: the value of each reference."""
        sensitive = sensitive_keys(config)
        shown = {
            key: HIDDEN if key in sensitive or is_sealed(raw[key]) else str(raw[key])
            for key, value in config.items()
            if value and (key in sensitive or value != raw[key])
        }
        found = {**secrets, **{str(config[key]): text for key, text in shown.items()}} if shown else {}
        forms = {form: text for secret, text in found.items() for form in secret_forms(secret)}
        return cls(shown, {form: forms[form] for form in sorted(forms, key=len, reverse=True)}, config)

    def hide(self, infos: ValidatedConfig) -> ValidatedConfig:
        """Return the settings with neither values nor messages that contain a secret."""
        return replace(infos, settings=tuple(self._info(info) for info in infos.settings)) if self.shown else infos

    def text(self, message: str, setting: str = "") -> str:
        """Return a message about a setting without secrets."""
        own = secret_forms(self.config.get(setting) or "")
        # In any case of letters: some settings are read in upper case.
        folded = message.casefold()
        for secret, text in self.texts.items():
            if (len(secret) >= TELLING or secret in own) and secret.casefold() in folded:
                message = re.sub(re.escape(secret), _literal(HIDDEN if is_sealed(text) else text), message, flags=re.I)
                folded = message.casefold()
        return message

    def _info(self, info: ValidatedSetting) -> ValidatedSetting:
        value = info.value
        if value is None or not (value.name in self.shown or value.error_messages):
            return info
        messages = [self.text(message, value.name) for message in value.error_messages]
        shown = self.shown.get(value.name, value.value)
        return replace(info, value=replace(value, value=shown, error_messages=messages))


def _literal(text: str) -> str:
    """Return a text as a replacement in which nothing refers to groups."""
    return text.replace("\\", r"\\")
