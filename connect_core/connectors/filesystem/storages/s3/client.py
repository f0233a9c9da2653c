"""A client of boto3, and the only way to send its requests: with timeouts, and with retries if they may help."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any, TypeVar

from connect_core.connectors.filesystem.storages.s3.settings import S3Settings
from connect_core.errors import ConfigError, RetriableError

__all__ = ["client_of", "sent"]

_LONGEST_PAUSE = 20.0
Answer = TypeVar("Answer")


@lru_cache(8)
def client_of(settings: S3Settings) -> Any:
    """Return a client, created once per process. Raises ConfigError, also if boto3 is not installed."""
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
    except ImportError as error:
        text = "boto3 is not installed; pip install 'connect-core[s3]' where drivers and workers run"
        raise ConfigError("path", "s3://", text) from error
    config = Config(
        connect_timeout=settings.connect_timeout,
        read_timeout=settings.read_timeout,
        # Retried by ``sent`` instead: each caller knows what a repetition means.
        retries={"total_max_attempts": 1, "mode": "standard"},
        s3={"addressing_style": "path" if settings.path_style else "virtual"},
        proxies={"http": settings.proxy, "https": settings.proxy} if settings.proxy else None,
        # Not every store supports the newer checksums; Content-MD5 protects what is sent.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        max_pool_connections=16,
    )
    keys = (settings.access_key, settings.secret_key, settings.session_token)
    try:
        session = boto3.session.Session(*keys, settings.region, botocore_session=_with_models())
        region = session.region_name or "us-east-1"
        return session.client("s3", region_name=region, endpoint_url=settings.endpoint, config=config)
    except (BotoCoreError, ValueError) as error:
        raise ConfigError("path", "s3://", f"no client can be created from the settings: {error}") from error


@lru_cache(1)
def _models() -> Any:
    from botocore.loaders import create_loader

    return create_loader()


def _with_models() -> Any:
    """Return a session that reads the description of S3, some megabytes of JSON, only once per process."""
    from botocore.session import Session

    session = Session()
    session.register_component("data_loader", _models())
    return session


def sent(
    settings: S3Settings, what: str, place: str, request: Callable[[], Answer], absent: Collection[str] = ()
) -> Answer | None:
    """Send a request, repeated while its failure may be temporary → its result; ``None`` for a code in ``absent``.

    what, place: as in ``translated``. Raises RetriableError, ConfigError, ConnectError.
    """
    from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
    from urllib3.exceptions import HTTPError

    from connect_core.connectors.filesystem.storages.s3.errors import code_of, translated

    tries = 0
    while True:
        try:
            return request()
        except (BotoCoreError, ClientError, HTTPClientError, HTTPError) as error:
            if code_of(error) in absent:
                return None
            meaning = translated(error, what, place)
            if not isinstance(meaning, RetriableError) or tries >= settings.retries:
                raise meaning from error
        # Randomised, so that many tasks that were throttled together do not retry together.
        time.sleep(random.uniform(0.5, 1) * min(_LONGEST_PAUSE, settings.backoff * 2**tries))
        tries += 1
