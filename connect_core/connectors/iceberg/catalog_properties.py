"""Properties of a catalog: translates Apache's names to pyiceberg's, and checks that locations are allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from connect_core.api.allowed_url import ensure_allowed_url
from connect_core.api.connector import WorkerLimits
from connect_core.connectors.allowed_file import allowed_folder, allowed_path
from connect_core.connectors.iceberg.sql_address import sql_address
from connect_core.connectors.worker_login import ensure_clouds_own_host, ensure_listed_place
from connect_core.errors import ConfigError

__all__ = [
    "OWN_IO",
    "PREFIX",
    "TIMEOUTS",
    "catalog_properties",
    "check_hosts",
    "ensure_allowed_file",
    "ensure_allowed_location",
]

PREFIX = "iceberg.catalog."
_TYPES = ("sql", "rest", "hive", "glue", "dynamodb", "bigquery")
_IMPLEMENTATIONS = {
    "org.apache.iceberg.rest.RESTCatalog": "rest",
    "org.apache.iceberg.jdbc.JdbcCatalog": "sql",
    "org.apache.iceberg.hive.HiveCatalog": "hive",
    "org.apache.iceberg.aws.glue.GlueCatalog": "glue",
    "org.apache.iceberg.aws.dynamodb.DynamoDbCatalog": "dynamodb",
}
_FILE_IO = {
    "org.apache.iceberg.aws.s3.S3FileIO",
    "org.apache.iceberg.gcp.gcs.GCSFileIO",
    "org.apache.iceberg.azure.adlsv2.ADLSFileIO",
    "org.apache.iceberg.hadoop.HadoopFileIO",
    "org.apache.iceberg.io.ResolvingFileIO",
}
OWN_IO = ("pyiceberg.io.pyarrow.PyArrowFileIO", "pyiceberg.io.fsspec.FsspecFileIO")
TIMEOUTS = {"rest.client.connection-timeout-ms": 10_000, "rest.client.socket-timeout-ms": 60_000}
"""Keys of Apache Iceberg's HTTPClient, for connecting and for a response, with their defaults in milliseconds."""
_URL = re.compile(r"[\x00- ]*(https?|thrift)\s*:", re.IGNORECASE)
"""What some client would take for a URL."""
_LOGINS = {
    "adls.": ("azure", {"adls.account-key", "adls.sas-token", "adls.client-secret", "adls.token"}),
    "gcs.": ("google", {"gcs.oauth2.token"}),
}
"""Prefix of properties → the cloud whose hosts receive the worker's own login, unless one of these is given."""
_KEYS = {
    "s3": (("s3.access-key-id", "s3.secret-access-key"), ("client.access-key-id", "client.secret-access-key")),
    "glue": (("glue.access-key-id", "glue.secret-access-key"), ("client.access-key-id", "client.secret-access-key")),
    "dynamodb": (
        ("dynamodb.access-key-id", "dynamodb.secret-access-key"),
        ("client.access-key-id", "client.secret-access-key"),
    ),
    "gs": (("gcs.oauth2.token",),),
    "abfss": tuple((key,) for key in sorted(_LOGINS["adls."][1])),
}
"""Scheme or catalog → the sets of properties each of which is a login of the connector's own."""
_ALIASES = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "abfss", "wasb": "abfss", "wasbs": "abfss"}
_PLACES = ("endpoint", "host", "authority", "uri")
"""Endings of the names of properties that name a host, as a URL or without its scheme."""


def catalog_properties(given: Mapping[str, str], limits: WorkerLimits) -> dict[str, str]:
    """Return pyiceberg's properties of a catalog. Raises ConfigError for a location that the worker does not allow."""
    found = dict(given)
    found["type"] = _type(found)
    _drop_classes(found)
    if "s3.path-style-access" in found:
        is_path = found.pop("s3.path-style-access").strip().lower() == "true"
        found.setdefault("s3.force-virtual-addressing", "false" if is_path else "true")
    if found["type"] == "sql":
        login = found.pop("jdbc.user", ""), found.pop("jdbc.password", "")
        found["uri"] = sql_address(found.get("uri", ""), *login, limits)
    _check_timeouts(found)
    check_hosts(found, limits)
    if "warehouse" in found:
        found["warehouse"] = _warehouse(found["warehouse"], found["type"], limits)
    elif found["type"] == "sql":
        raise ConfigError(f"{PREFIX}warehouse", "", "name the folder or URL below which tables are created")
    if found["type"] in ("glue", "dynamodb", "bigquery"):
        _check_login(f"{PREFIX}type", f"{found['type']}://", found, limits)
    if found["type"] != "rest" and "warehouse" in found:
        # What a REST catalog calls a warehouse is its own affair, and it may give logins for its tables.
        _check_login(f"{PREFIX}warehouse", found["warehouse"], found, limits)
    return found


def check_hosts(found: Mapping[str, str], limits: WorkerLimits) -> None:
    """Raise ConfigError for a host that the worker does not allow, or that would receive its own login."""
    for key, value in found.items():
        if key.endswith("profile-name"):
            text = "the worker's profiles are not a connector's; give keys of its own, or none for the worker's login"
            raise ConfigError(PREFIX + key, value, text)
        if key in ("uri", "warehouse") and not _URL.match(value):
            continue
        for address in _addresses(key, value):
            host = ensure_allowed_url(PREFIX + key, address, limits)
            for prefix, (cloud, logins) in _LOGINS.items():
                if key.startswith(prefix) and "AccountKey=" not in value and not logins.intersection(found):
                    remedy = f"set {PREFIX}{min(logins)}"
                    ensure_clouds_own_host(cloud, PREFIX + key, host, remedy)


def ensure_allowed_location(location: str, limits: WorkerLimits, key: str = f"{PREFIX}warehouse") -> None:
    """Raise ConfigError for a table in a folder of this machine that the worker does not allow."""
    place = urlsplit(location)
    if place.scheme in ("", "file"):
        allowed_path(key, unquote(place.path), limits)


def ensure_allowed_file(location: str, properties: Mapping[str, str], limits: WorkerLimits) -> None:
    """Raise ConfigError for a file or object, named by a catalog or a table, that the worker does not allow."""
    ensure_allowed_location(location, limits)
    _check_login(f"{PREFIX}warehouse", location, properties, limits)


def _check_login(key: str, place: str, properties: Mapping[str, str], limits: WorkerLimits) -> None:
    """Raise ConfigError for a place that the worker's own login is not for, if the connector has none of its own."""
    scheme, separator, _ = place.partition("://")
    scheme = _ALIASES.get(scheme.lower(), scheme.lower())
    sets = _KEYS.get(scheme, ())
    if not separator or scheme in ("file", "hdfs", "viewfs"):
        return
    if any(all(properties.get(one) for one in needed) for needed in sets):
        return
    remedy = f"give a login of its own by {' and '.join(PREFIX + one for one in sets[0])}" if sets else "use another"
    ensure_listed_place(key, place, limits, remedy)


def _type(found: Mapping[str, str]) -> str:
    given = found.get("type", "").lower()
    implementation = found.get("catalog-impl")
    if implementation is not None and not given:
        if implementation not in _IMPLEMENTATIONS:
            text = f"no such class here; set iceberg.catalog.type to one of {', '.join(_TYPES)}"
            raise ConfigError(f"{PREFIX}catalog-impl", implementation, text)
        return _IMPLEMENTATIONS[implementation]
    named = {"jdbc": "sql", "": "sql"}.get(given, given)
    if named not in _TYPES:
        text = f"there are: {', '.join(_TYPES)}"
        if named == "hadoop":
            text = f"a catalog of files alone has no conditional commit that holds on every store; {text}"
        raise ConfigError(f"{PREFIX}type", given, text)
    return named


def _drop_classes(found: dict[str, str]) -> None:
    """Remove names of Java classes that have no effect here. Raises ConfigError for any that would load code."""
    found.pop("catalog-impl", None)
    given = found.pop("io-impl", None)
    if given is not None and given not in _FILE_IO:
        raise ConfigError(f"{PREFIX}io-impl", given, "files are read and written by pyiceberg; leave it out")
    for key in found:
        if key.startswith("py-") and found[key] not in OWN_IO:
            raise ConfigError(f"{PREFIX}{key}", found[key], f"only {' and '.join(OWN_IO)} are known")
        if key.endswith("-impl") and not key.startswith("py-"):
            raise ConfigError(f"{PREFIX}{key}", found[key], "it names code to load; leave it out")


def _check_timeouts(found: Mapping[str, str]) -> None:
    for key in TIMEOUTS:
        if key in found and not (found[key].isascii() and found[key].isdigit() and int(found[key]) > 0):
            raise ConfigError(f"{PREFIX}{key}", found[key], "a positive number of milliseconds")


def _addresses(key: str, value: str) -> Iterator[str]:
    """Yield the addresses named in a property, with a scheme."""
    parts = [part.partition("=")[2] for part in value.split(";")] if key.endswith("connection-string") else [value]
    for part in parts:
        if _URL.match(part) or key.endswith(_PLACES):
            for one in part.split(","):
                place = one.strip() if key == "uri" else one
                yield place if _URL.match(place) else f"any://{place}"


def _warehouse(given: str, kind: str, limits: WorkerLimits) -> str:
    place = urlsplit(given)
    if place.scheme == "file" or (kind in ("sql", "hive") and not place.scheme):
        path = unquote(place.path) if place.scheme else given
        return Path(allowed_folder(f"{PREFIX}warehouse", path, limits)).as_uri()
    return given
