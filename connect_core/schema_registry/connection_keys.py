"""The settings of a registry's connection: login, calls, TLS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from connect_core.api.config import ConfigType, Importance, Range, Validator, ValidString

__all__ = ["CONNECTION_KEYS", "SSL", "KeyRow"]

SSL = "schema.registry.ssl."
KeyRow = tuple[str, ConfigType, Any, Importance, Validator | None, str]
"""Name, type, default, importance, validator and documentation of a setting."""

_HIGH, _MEDIUM, _LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
_STRING, _INT, _PASSWORD = ConfigType.STRING, ConfigType.INT, ConfigType.PASSWORD
_MILLIS = Range.at_least(1)
_COUNT = Range.at_least(0)

_LOGIN: tuple[KeyRow, ...] = (
    (
        "basic.auth.credentials.source",
        _STRING,
        "URL",
        _MEDIUM,
        ValidString.one_of("URL", "USER_INFO", "SASL_INHERIT"),
        "Where the user and password come from: URL, USER_INFO (basic.auth.user.info) or SASL_INHERIT "
        "(sasl.jaas.config).",
    ),
    ("basic.auth.user.info", _PASSWORD, "", _MEDIUM, None, "user:password"),
    ("schema.registry.basic.auth.user.info", _PASSWORD, "", _MEDIUM, None, "Older name of basic.auth.user.info."),
    ("sasl.jaas.config", _PASSWORD, "", _LOW, None, "The login entry for SASL_INHERIT: PLAIN or SCRAM."),
    (
        "bearer.auth.credentials.source",
        _STRING,
        "STATIC_TOKEN",
        _MEDIUM,
        ValidString.one_of("STATIC_TOKEN"),
        "Where the token comes from. OAUTHBEARER, SASL_OAUTHBEARER_INHERIT and CUSTOM are not supported.",
    ),
    ("bearer.auth.token", _PASSWORD, "", _MEDIUM, None, "A bearer token; replaces basic authentication."),
    (
        "bearer.auth.logical.cluster",
        _STRING,
        None,
        _LOW,
        None,
        "Value of the header target-sr-cluster, sent with a token.",
    ),
    (
        "bearer.auth.identity.pool.id",
        _STRING,
        None,
        _LOW,
        None,
        "Value of the header Confluent-Identity-Pool-Id, sent with a token.",
    ),
)

_CALLS: tuple[KeyRow, ...] = (
    ("http.connect.timeout.ms", _INT, 60000, _LOW, _MILLIS, "Maximum time to wait for a connection."),
    ("http.read.timeout.ms", _INT, 60000, _LOW, _MILLIS, "Maximum time to wait for the next part of a response."),
    (
        "schema.registry.request.timeout.ms",
        _INT,
        120000,
        _LOW,
        _MILLIS,
        "Maximum time to wait for a response, including all attempts at all addresses.",
    ),
    ("max.retries", _INT, 3, _LOW, _COUNT, "Number of retries of a call to which no address responded."),
    (
        "retries.wait.ms",
        _INT,
        1000,
        _LOW,
        _COUNT,
        "Maximum delay before the first retry; doubled each time.",
    ),
    ("retries.max.wait.ms", _INT, 20000, _LOW, _COUNT, "Maximum delay before any retry."),
    ("proxy.host", _STRING, "", _LOW, None, "The proxy through which the registry is called."),
    ("proxy.port", _INT, -1, _LOW, Range.between(-1, 65535), "The proxy's port."),
)

_TLS: tuple[KeyRow, ...] = (
    (f"{SSL}truststore.location", _STRING, None, _HIGH, None, "Trusted certificates: a PEM or PKCS12 file."),
    (
        f"{SSL}truststore.type",
        _STRING,
        None,
        _MEDIUM,
        None,
        "PEM or PKCS12; by default, according to the file's suffix.",
    ),
    (f"{SSL}truststore.password", _PASSWORD, None, _HIGH, None, "Password of a PKCS12 file."),
    (f"{SSL}truststore.certificates", _PASSWORD, None, _HIGH, None, "Trusted certificates, as PEM text."),
    (
        f"{SSL}keystore.location",
        _STRING,
        None,
        _HIGH,
        None,
        "Key and certificate of this client: a PEM or PKCS12 file.",
    ),
    (f"{SSL}keystore.type", _STRING, None, _MEDIUM, None, "PEM or PKCS12; by default, according to the file's suffix."),
    (f"{SSL}keystore.password", _PASSWORD, None, _HIGH, None, "Password of a PKCS12 file."),
    (f"{SSL}key.password", _PASSWORD, None, _HIGH, None, "Password of the private key."),
    (f"{SSL}keystore.key", _PASSWORD, None, _HIGH, None, "The private key, as PEM text."),
    (f"{SSL}keystore.certificate.chain", _PASSWORD, None, _HIGH, None, "This client's certificates, as PEM text."),
    (
        f"{SSL}endpoint.identification.algorithm",
        _STRING,
        "https",
        _LOW,
        None,
        "Empty: the host name in the server's certificate is not verified.",
    ),
)

CONNECTION_KEYS: Mapping[str, tuple[KeyRow, ...]] = {"Login": _LOGIN, "Calls": _CALLS, "TLS": _TLS}
"""Group → its settings."""
