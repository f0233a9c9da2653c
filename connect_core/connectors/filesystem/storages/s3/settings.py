"""The settings of S3 storage, with the names of Confluent's S3 sink if it has a key for the same purpose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from connect_core.api.allowed_url import host_of_url
from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance, Range, ValidString
from connect_core.errors import ConfigError

__all__ = ["CONFIG", "S3Settings", "bucket_and_prefix"]

REGION = "s3.region"
ENDPOINT = "store.url"
PATH_STYLE = "s3.path.style.access.enabled"
ACCESS_KEY = "aws.access.key.id"
SECRET_KEY = "aws.secret.access.key"
SESSION_TOKEN = "aws.session.token"
SSE = "s3.ssea.name"
SSE_KEY = "s3.sse.kms.key.id"
STORAGE_CLASS = "s3.storage.class"
ACL = "s3.acl.canned"
PROXY = "s3.proxy.url"
PROXY_USER = "s3.proxy.user"
PROXY_PASSWORD = "s3.proxy.password"
PART_SIZE = "s3.part.size"
RETRIES = "s3.part.retries"
BACKOFF = "s3.retry.backoff.ms"
CONNECT_TIMEOUT = "s3.connect.timeout.ms"
READ_TIMEOUT = "s3.read.timeout.ms"

MIB = 1024 * 1024
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]\Z")
_ACLS = (
    "private",
    "public-read",
    "public-read-write",
    "authenticated-read",
    "aws-exec-read",
    "bucket-owner-read",
    "bucket-owner-full-control",
    "log-delivery-write",
)
_LOW = Importance.LOW

CONFIG = (
    ConfigDef()
    .define(
        REGION,
        ConfigType.STRING,
        None,
        importance=Importance.MEDIUM,
        doc="s3: the region of the bucket; "
        "if not set, that of the worker's environment or AWS profile, else us-east-1.",
    )
    .define(
        ENDPOINT,
        ConfigType.STRING,
        None,
        importance=Importance.MEDIUM,
        doc="s3: the address of an S3-compatible store, such as http://minio:9000; Amazon's own if not set.",
    )
    .define(
        PATH_STYLE,
        ConfigType.BOOLEAN,
        True,
        importance=_LOW,
        doc="s3: whether the bucket is named in the path of requests; false: in the host name.",
    )
    .define(
        ACCESS_KEY,
        ConfigType.STRING,
        None,
        importance=Importance.MEDIUM,
        doc="s3: the access key; if not set, the worker's environment, profile or role is used, as by AWS's tools.",
    )
    .define(
        SECRET_KEY, ConfigType.PASSWORD, None, importance=Importance.MEDIUM, doc="s3: the secret of the access key."
    )
    .define(
        SESSION_TOKEN,
        ConfigType.PASSWORD,
        None,
        importance=_LOW,
        doc="s3: the session token of a temporary access key.",
    )
    .define(
        SSE,
        ConfigType.STRING,
        "",
        validator=ValidString.one_of("", "AES256", "aws:kms"),
        importance=_LOW,
        doc="s3: how the store encrypts objects; if empty, as configured for the bucket.",
    )
    .define(
        SSE_KEY,
        ConfigType.STRING,
        None,
        importance=_LOW,
        doc="s3: the KMS key for aws:kms; if not set, the account's own for S3.",
    )
    .define(
        STORAGE_CLASS,
        ConfigType.STRING,
        None,
        importance=_LOW,
        doc="s3: the storage class of data files, such as STANDARD_IA; STANDARD if not set.",
    )
    .define(
        ACL,
        ConfigType.STRING,
        "",
        validator=ValidString.one_of("", *_ACLS),
        importance=_LOW,
        doc="s3: the canned ACL of data files; if empty, as configured for the bucket.",
    )
    .define(
        PROXY,
        ConfigType.STRING,
        "",
        importance=_LOW,
        doc="s3: the proxy requests go through, such as http://proxy:3128; that of the environment if empty.",
    )
    .define(PROXY_USER, ConfigType.STRING, None, importance=_LOW, doc="s3: the user for the proxy.")
    .define(PROXY_PASSWORD, ConfigType.PASSWORD, None, importance=_LOW, doc="s3: the password for the proxy.")
    .define(
        PART_SIZE,
        ConfigType.INT,
        25 * MIB,
        validator=Range.between(5 * MIB, 2000 * MIB),
        importance=_LOW,
        doc="s3: size of an upload part in bytes; larger where a file would have over 10,000 parts.",
    )
    .define(
        RETRIES,
        ConfigType.INT,
        3,
        validator=Range.between(0, 20),
        importance=_LOW,
        doc="s3: how often a request is retried after throttling, or an error in the store or the network.",
    )
    .define(
        BACKOFF,
        ConfigType.LONG,
        200,
        validator=Range.between(0, 60_000),
        importance=_LOW,
        doc="s3: maximum delay before the first retry in milliseconds; doubled for each further one.",
    )
    .define(
        CONNECT_TIMEOUT,
        ConfigType.INT,
        10_000,
        validator=Range.between(100, 300_000),
        importance=_LOW,
        doc="s3: after how many milliseconds an attempt to connect counts as failed.",
    )
    .define(
        READ_TIMEOUT,
        ConfigType.INT,
        60_000,
        validator=Range.between(100, 900_000),
        importance=_LOW,
        doc="s3: after how many milliseconds without a response a request counts as failed.",
    )
)


@dataclass(frozen=True, slots=True)
class S3Settings:
    """How to access a bucket and create its objects; times in seconds. Secrets are never shown."""

    region: str | None
    endpoint: str | None
    path_style: bool
    access_key: str | None
    secret_key: str | None = field(repr=False)
    session_token: str | None = field(repr=False)
    proxy: str | None = field(repr=False)
    part_size: int
    retries: int
    backoff: float
    connect_timeout: float
    read_timeout: float
    encryption: tuple[tuple[str, str], ...] = ()
    """Request parameters for every new object."""
    shown: tuple[tuple[str, str], ...] = ()
    """Further request parameters for objects that readers see."""

    @classmethod
    def of(cls, config: Mapping[str, str]) -> S3Settings:
        """Parse a configuration. Raises ConfigError."""
        parsed = AbstractConfig(CONFIG, config)
        access, secret = parsed.get_string(ACCESS_KEY), _secret(parsed, SECRET_KEY)
        if bool(access) != bool(secret):
            key = SECRET_KEY if access else ACCESS_KEY
            text = f"{ACCESS_KEY} and {SECRET_KEY} belong together: set both, or neither to use the worker's own"
            raise ConfigError(f"Missing required configuration {key}: {text}")
        token = _secret(parsed, SESSION_TOKEN)
        if token and not access:
            raise ConfigError(f"Missing required configuration {ACCESS_KEY}: {SESSION_TOKEN} belongs to an access key")
        return cls(
            region=parsed.get_string(REGION) or None,
            endpoint=_endpoint(parsed.get_string(ENDPOINT) or ""),
            path_style=bool(parsed.get_boolean(PATH_STYLE)),
            access_key=access or None,
            secret_key=secret,
            session_token=token,
            proxy=_proxy(parsed),
            part_size=parsed.get_int(PART_SIZE) or 0,
            retries=parsed.get_int(RETRIES) or 0,
            backoff=(parsed.get_long(BACKOFF) or 0) / 1000,
            connect_timeout=(parsed.get_int(CONNECT_TIMEOUT) or 0) / 1000,
            read_timeout=(parsed.get_int(READ_TIMEOUT) or 0) / 1000,
            encryption=_encryption(parsed),
            shown=_shown(parsed),
        )


def bucket_and_prefix(key: str, url: str) -> tuple[str, str]:
    """Return bucket and prefix of a URL; the prefix has no leading or trailing slash. Raises ConfigError."""
    scheme, _, rest = url.partition("://")
    bucket, _, prefix = rest.partition("/")
    if scheme.lower() != "s3" or not _BUCKET.match(bucket):
        raise ConfigError(key, url, "it does not contain a bucket; write s3://bucket/prefix")
    prefix = prefix.strip("/")
    parts = prefix.split("/") if prefix else []
    if any(part in ("", ".", "..") for part in parts) or any(ord(char) < 32 for char in prefix):
        raise ConfigError(key, url, "a prefix must not have empty parts, . or .. or control characters; choose another")
    return bucket, prefix


def _secret(parsed: AbstractConfig, key: str) -> str | None:
    password = parsed.get_password(key)
    return None if password is None else password.value or None


def _endpoint(url: str) -> str | None:
    if not url:
        return None
    return _address(ENDPOINT, url, "http://minio:9000").rstrip("/")


def _proxy(parsed: AbstractConfig) -> str | None:
    url = parsed.get_string(PROXY) or ""
    if not url:
        return None
    _address(PROXY, url, "http://proxy:3128")
    user, password = parsed.get_string(PROXY_USER), _secret(parsed, PROXY_PASSWORD)
    if not user:
        return url
    scheme, _, host = url.partition("://")
    return f"{scheme}://{quote(user, safe='')}:{quote(password or '', safe='')}@{host}"


def _address(key: str, url: str, example: str) -> str:
    """Return a URL with a host. Raises ConfigError without the value, which may contain a password."""
    try:
        found = urlsplit(url)
        is_host = found.scheme in ("http", "https") and bool(found.hostname) and (found.port or 1) > 0
    except ValueError:
        is_host = False
    if not is_host:
        raise ConfigError(key, "given", f"it is not an address; write one such as {example}")
    if found.username or found.password:
        raise ConfigError(key, "given", "it has a user or password in it; they have settings of their own")
    host_of_url(key, url)
    return url


def _encryption(parsed: AbstractConfig) -> tuple[tuple[str, str], ...]:
    kind, key = parsed.get_string(SSE) or "", parsed.get_string(SSE_KEY) or ""
    if key and kind != "aws:kms":
        raise ConfigError(SSE_KEY, key, f"it needs {SSE}=aws:kms")
    wanted = (("ServerSideEncryption", kind), ("SSEKMSKeyId", key))
    return tuple((name, value) for name, value in wanted if value)


def _shown(parsed: AbstractConfig) -> tuple[tuple[str, str], ...]:
    wanted = (("StorageClass", parsed.get_string(STORAGE_CLASS) or ""), ("ACL", parsed.get_string(ACL) or ""))
    return tuple((name, value) for name, value in wanted if value)
