"""Translates Java's login and key store settings to librdkafka's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from connect_core.errors import ConfigError

__all__ = ["login_settings", "store_settings"]

_LOGIN = re.compile(r"""\s*([\w.$]+)\s+(?:required|requisite|sufficient|optional)\b(.*)""", re.DOTALL | re.IGNORECASE)
_OPTION = re.compile(r"""(?<![\w.])([\w.]++)\s*+=\s*+(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;"']+))""")
_OAUTH_HANDLERS = ("OAuthBearerLoginCallbackHandler", "OAuthBearerValidatorCallbackHandler")


def login_settings(jaas: str) -> dict[str, str]:
    """Return a ``sasl.jaas.config`` entry as librdkafka settings.

    PLAIN, SCRAM and OAUTHBEARER modules are supported. Raise ConfigError for others; the value itself is never shown.
    """
    match = _LOGIN.match(jaas)
    if match is None:
        raise ConfigError(
            "sasl.jaas.config is not a login entry; set sasl.username and sasl.password instead, or write it as"
            ' \'org.apache.kafka.common.security.plain.PlainLoginModule required username="…" password="…";\''
        )
    module, text = match.groups()
    options = {name: _unescape(double or single) or bare for name, double, single, bare in _OPTION.findall(text)}
    simple = module.rpartition(".")[2]
    if simple in ("PlainLoginModule", "ScramLoginModule"):
        return _renamed(options, {"username": "sasl.username", "password": "sasl.password"})
    if simple == "OAuthBearerLoginModule":
        names = {
            "clientId": "sasl.oauthbearer.client.id",
            "clientSecret": "sasl.oauthbearer.client.secret",
            "scope": "sasl.oauthbearer.scope",
        }
        return {"sasl.oauthbearer.method": "oidc", **_renamed(options, names)}
    raise ConfigError(
        f"sasl.jaas.config names the login module {module}, which this client does not have;"
        " use PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER"
    )


def _renamed(options: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    return {names[option]: value for option, value in options.items() if option in names}


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def store_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the key and trust store settings of one layer, as librdkafka settings.

    PEM stores, and PKCS12 key stores, are supported. Raise ConfigError for Java's own format and for callback handlers,
    which are Java code.
    """
    found: dict[str, str] = {}
    trust = settings.get("ssl.truststore.location")
    if trust:
        _require_format("ssl.truststore.location", trust, settings.get("ssl.truststore.type"), ("PEM",))
        found["ssl.ca.location"] = trust
    keys = settings.get("ssl.keystore.location")
    if keys:
        if (
            _require_format("ssl.keystore.location", keys, settings.get("ssl.keystore.type"), ("PEM", "PKCS12"))
            == "PEM"
        ):
            found |= {"ssl.certificate.location": keys, "ssl.key.location": keys}
        else:
            found["ssl.keystore.location"] = keys
    for key in ("sasl.login.callback.handler.class", "sasl.client.callback.handler.class"):
        handler = settings.get(key)
        if handler and handler.rpartition(".")[2] not in _OAUTH_HANDLERS:
            raise ConfigError(key, handler, "it is Java code; use PLAIN, SCRAM or OAUTHBEARER with a token endpoint")
    return found


def _require_format(key: str, path: str, declared: str | None, supported: tuple[str, ...]) -> str:
    by_suffix = {".pem": "PEM", ".crt": "PEM", ".p12": "PKCS12", ".pfx": "PKCS12"}
    form = (declared or by_suffix.get(PurePath(path).suffix.lower(), "JKS")).upper()
    if form not in supported:
        raise ConfigError(
            key, path, f"its format is {form}; convert it with keytool and openssl, and give {' or '.join(supported)}"
        )
    return form
