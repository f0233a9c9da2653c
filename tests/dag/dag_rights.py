"""A small auth manager with rights per DAG, which Airflow's simple one does not know."""

from __future__ import annotations

import os
from typing import Any

from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager

__all__ = ["GRANTS", "RightsPerDag"]

GRANTS = "TEST_DAG_GRANTS"
"""Names the variable that holds ``user=METHOD:dag_id,…;user=…``."""


class RightsPerDag(SimpleAuthManager):
    """Lets users do to single DAGs what ``GRANTS`` says, and nothing else."""

    def is_authorized_dag(self, *, method: Any, user: Any, access_entity: Any = None, details: Any = None) -> bool:
        """Return whether it was granted; what belongs to no DAG may be read."""
        dag_id = getattr(details, "id", None)
        if dag_id is None:
            return bool(method == "GET")
        granted = dict(line.split("=", 1) for line in os.environ[GRANTS].split(";"))
        return f"{method}:{dag_id}" in granted.get(user.get_name(), "").split(",")

    def is_authorized_pool(self, *, method: Any, user: Any, details: Any = None) -> bool:
        """Return whether a pool was granted by its name."""
        return self._is_granted(user, f"{method}:pool:{details.name}")

    def is_authorized_asset(self, *, method: Any, user: Any, details: Any = None) -> bool:
        """Return whether an asset was granted by its id; one that is not there yet has none."""
        return self._is_granted(user, f"{method}:asset:{details.id}")

    def _is_granted(self, user: Any, right: str) -> bool:
        granted = dict(line.split("=", 1) for line in os.environ[GRANTS].split(";"))
        return right in granted.get(user.get_name(), "").split(",")
