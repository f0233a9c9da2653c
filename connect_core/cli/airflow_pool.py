"""Check of the API server's database connections, for ``connect doctor`` and ``connect distributed``."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

from connect_core.dag.airflow_api import AirflowApi
from connect_core.dag.airflow_client import ServiceIdentity
from connect_core.dag.api_pool import POOL_REMEDY, find_pool
from connect_core.dev.checks import Finding, fail, passed, skip

__all__ = ["check_airflow_pool", "warn_of_airflow_pool"]

_LOG = logging.getLogger(__name__)
_SUBJECT = "API pool"
_UNKNOWN = "Airflow does not show the size of its API server's database connection pool ([api] expose_config is off)"


def check_airflow_pool(environment: Mapping[str, str]) -> Finding:
    """Check that the API server has more database connections than threads: else a burst of requests may stop it."""
    address = environment.get("CONNECT_AIRFLOW_URL")
    if not address:
        return skip(_SUBJECT, "CONNECT_AIRFLOW_URL is not set")
    user, file = environment.get("CONNECT_AIRFLOW_USER", "admin"), environment.get("CONNECT_AIRFLOW_PASSWORD_FILE", "")
    api = AirflowApi(ServiceIdentity(address, user, Path(file)))
    try:
        return _finding(api, address)
    finally:
        api.close()


def _finding(api: AirflowApi, address: str) -> Finding:
    pool = find_pool(api, address)
    if pool is None:
        return skip(_SUBJECT, f"{_UNKNOWN}. {POOL_REMEDY}")
    return passed(_SUBJECT, str(pool)) if pool.is_enough else fail(_SUBJECT, str(pool), POOL_REMEDY)


def warn_of_airflow_pool(api: AirflowApi, address: str) -> None:
    """Log the result of the check, unless it passed."""
    finding = _finding(api, address)
    if finding.is_ok is False:
        _LOG.warning("Airflow has %s: a burst of requests may block it. %s", finding.detail, finding.remedy)
    elif finding.is_ok is None:
        _LOG.info("%s", finding.detail)
