"""Where S3's credentials come from, by the class names of Amazon's SDKs for Java."""

from __future__ import annotations

from collections.abc import Mapping

from connect_core.api.config import ConfigType
from connect_core.connectors.filesystem.aliases.key import Key, Named
from connect_core.errors import ConfigError

__all__ = ["credentials_class"]

_NEW, _OLD = "software.amazon.awssdk.auth.credentials.", "com.amazonaws.auth."
_WHOLE = (f"{_NEW}defaultcredentialsprovider", f"{_OLD}defaultawscredentialsproviderchain")
_PARTS = (
    *(
        f"{_NEW}{name}credentialsprovider"
        for name in ("environmentvariable", "instanceprofile", "container", "profile")
    ),
    f"{_NEW}webidentitytokenfilecredentialsprovider",
    *(f"{_OLD}{name}credentialsprovider" for name in ("environmentvariable", "instanceprofile", "webidentitytoken")),
    f"{_OLD}containercredentialsprovider",
    f"{_OLD}ec2containercredentialsproviderwrapper",
    f"{_OLD}profile.profilecredentialsprovider",
)
"""Providers that the usual chain contains."""


def credentials_class(name: str) -> Key:
    """Return the key of this name."""

    def read(value: str) -> Mapping[str, str]:
        if value.strip().lower() not in (*_WHOLE, *_PARTS):
            text = "set aws.access.key.id and aws.secret.access.key, or let environment, profile or role give them"
            raise ConfigError(name, value, f"leave it out: {text}")
        return {}

    doc = (
        "Where credentials come from: aws.access.key.id and its secret, else the usual chain (environment, profile, "
        "role of the machine), also if a single provider of the chain is named."
    )
    return Named(name, ConfigType.STRING, None).mapped(doc, read, _hint)


def _hint(config: Mapping[str, str], name: str) -> str:
    provider = config[name].strip()
    return f"{name}: the usual chain is asked, which contains {provider}" if provider.lower() in _PARTS else ""
