"""Authorization of the REST API by Airflow's rights: the one module that imports Airflow's API server.

A connector's rights are those of its DAG, whose id is computed from the
connector's name and never taken from a caller.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.base_auth_manager import COOKIE_NAME_JWT_TOKEN
from airflow.api_fastapi.auth.managers.models.resource_details import AssetDetails, DagDetails, PoolDetails
from airflow.api_fastapi.core_api import security
from airflow.configuration import conf
from airflow.models.asset import AssetModel
from airflow.models.dag import DagModel
from airflow.models.pool import Pool
from airflow.sdk import Asset
from airflow.utils.session import create_session
from jwt import InvalidTokenError

from connect_core.dag.naming import dag_id_of

__all__ = ["AirflowAccess", "AirflowCaller"]

Method = Literal["GET", "POST", "PUT", "DELETE"]

# Where Airflow does not record who set a request's user, its cookie is read instead: nothing equals this object.
_TRUSTED = getattr(security, "USER_INJECTED_BY_TRUSTED_MIDDLEWARE", object())


@dataclass(frozen=True, slots=True)
class AirflowCaller:
    """An Airflow user."""

    name: str
    user: Any


class AirflowAccess:
    """Authenticates callers by Airflow's token, in a header or its cookie; the auth manager checks their rights."""

    challenge: str | None = "Bearer"

    async def authenticate(self, request: Any) -> AirflowCaller | None:
        """Return Airflow's user; an explicit credential wins over the cookie."""
        given = request.headers.get("authorization")
        if given is None and (user := _refreshed_user(request)) is not None:
            return AirflowCaller(user.get_name(), user)
        token = request.cookies.get(COOKIE_NAME_JWT_TOKEN) if given is None else _bearer(given)
        if not token:
            return None
        try:
            user = await get_auth_manager().get_user_from_token(token)
        except InvalidTokenError:
            return None
        return AirflowCaller(user.get_name(), user)

    def allows(self, caller: AirflowCaller, method: Method, connector: str | None) -> bool:
        """Return whether the auth manager allows this on the connector's DAG.

        A change that concerns no connector is one of loggers, which are those of Airflow's server.
        """
        if connector is None:
            return method == "GET" or _may_configure(caller)
        dag_id = dag_id_of(connector)
        team = DagModel.get_team_name(dag_id) if _has_teams() else None
        return self._may(caller, method, DagDetails(id=dag_id, team_name=team))

    def _may(self, caller: AirflowCaller, method: Method, details: DagDetails) -> bool:
        return get_auth_manager().is_authorized_dag(method=method, details=details, user=caller.user)

    def visible(self, caller: AirflowCaller, connectors: Collection[str]) -> Collection[str]:
        """Return the connectors whose DAGs the user may see, in the order given."""
        ids = {name: dag_id_of(name) for name in connectors}
        teams = DagModel.get_dag_id_to_team_name_mapping(list(ids.values())) if _has_teams() else {}
        by_team: dict[str | None, set[str]] = defaultdict(set)
        for dag_id in ids.values():
            by_team[teams.get(dag_id)].add(dag_id)
        manager, seen = get_auth_manager(), set[str]()
        for team, dag_ids in by_team.items():
            # Airflow 3.1 has no teams yet.
            of_team = {} if team is None else {"team_name": team}
            seen |= manager.filter_authorized_dag_ids(dag_ids=dag_ids, user=caller.user, method="GET", **of_team)
        return [name for name, dag_id in ids.items() if dag_id in seen]

    def refusal(self, caller: AirflowCaller, connector: str, settings: Mapping[str, str]) -> str | None:
        """Check the rights to the pool, to create events of the outlets' assets, and to see those of the schedule."""
        manager, user = get_auth_manager(), caller.user
        pool = settings.get("schedule.pool", "").strip()
        if pool:
            details = PoolDetails(name=pool, team_name=Pool.get_team_name(pool) if _has_teams() else None)
            if not manager.is_authorized_pool(method="PUT", details=details, user=user):
                return f"let a connector use slots of pool {pool} (schedule.pool), which requires permission to edit it"
        for uri in filter(None, map(str.strip, settings.get("schedule.outlets", "").split(","))):
            if not manager.is_authorized_asset(method="POST", details=_asset(uri), user=user):
                return f"create events for asset {uri} (schedule.outlets), which requires permission to create them"
        for word in _awaited(settings.get("schedule", "")):
            if not manager.is_authorized_asset(method="GET", details=_asset(word), user=user):
                return f"see asset {word} (schedule)"
        return None


def _may_configure(caller: AirflowCaller) -> bool:
    return get_auth_manager().is_authorized_configuration(method="PUT", user=caller.user)


def _awaited(schedule: str) -> list[str]:
    """Return the assets named by an ``asset:…`` schedule."""
    kind, _, rest = schedule.strip().partition(":")
    return [word for word in rest.split() if word != "|"] if kind == "asset" else []


def _asset(word: str) -> AssetDetails:
    """Return the asset of this URI or name; one that does not exist yet has no id."""
    try:
        uri = Asset(uri=word).uri if "://" in word else word
    except ValueError:
        uri = word
    with create_session() as session:
        found = session.query(AssetModel.id).filter((AssetModel.uri == uri) | (AssetModel.name == word)).first()
    return AssetDetails(id=None if found is None else str(found.id))


def _bearer(authorization: str) -> str | None:
    scheme, _, credentials = authorization.partition(" ")
    return credentials.strip() if scheme.lower() == "bearer" else None


def _refreshed_user(request: Any) -> Any:
    """Return the user that Airflow's own middleware took from the cookie; ``None`` for one set by anything else."""
    is_trusted = getattr(request.state, "user_authenticated_via", None) is _TRUSTED
    return getattr(request.state, "user", None) if is_trusted else None


def _has_teams() -> bool:
    return bool(conf.getboolean("core", "multi_team", fallback=False))
