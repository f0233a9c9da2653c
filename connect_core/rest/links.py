"""Links for browsers from a connector to pages outside the API: its DAG, its runs, Spark's jobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request

__all__ = ["Links"]


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses of Airflow and Spark; ``None`` where there is none.

    ``airflow_url`` is empty inside Airflow, where addresses are relative to its root.
    """

    dag_id_of: Callable[[str], str] | None = None
    airflow_url: str | None = None
    spark_url: str | None = None

    def dag_id(self, connector: str) -> str | None:
        """Return the id of a connector's DAG."""
        return None if self.dag_id_of is None else self.dag_id_of(connector)

    def dag(self, request: Request, connector: str) -> str | None:
        """Return the URL of a connector's DAG."""
        root, dag_id = self.airflow(request), self.dag_id(connector)
        return None if root is None or dag_id is None else f"{root}/dags/{quote(dag_id, safe='')}"

    def run(self, request: Request, connector: str, run_id: str) -> str | None:
        """Return the URL of a run of a connector's DAG."""
        dag = self.dag(request, connector)
        return None if dag is None or not run_id else f"{dag}/runs/{quote(run_id, safe='')}"

    def airflow(self, request: Request) -> str | None:
        """Return Airflow's address for the browser that sent the request."""
        if self.airflow_url != "":
            return None if self.airflow_url is None else self.airflow_url.rstrip("/")
        mounted: str = request.scope.get("root_path", "")
        return mounted.rpartition("/")[0]
