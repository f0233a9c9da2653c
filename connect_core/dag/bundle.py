"""The DAG file of an installed connect-core as an Airflow bundle, for ``[dag_processor] dag_bundle_config_list``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from airflow.dag_processing.bundles.local import LocalDagBundle

__all__ = ["ConnectDagBundle"]


class ConnectDagBundle(LocalDagBundle):
    """A folder with nothing but ``connect_dags.py``: one DAG per stored connector, and connect_housekeeping."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(path=str(Path(__file__).with_name("files")), **settings)
