"""The task ``run`` of a connector's DAG, as a spark-submit."""

from __future__ import annotations

import tempfile
import uuid
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.common.compat.sdk import AirflowException

from connect_core.dag.connector_task import ConnectorTask
from connect_core.dag.submit_settings import Destination, py_files, spark_properties
from connect_core.dag.wiring import worker_settings
from connect_core.errors import ConnectError, RetriableError
from connect_core.interval.reports import report_from_text, request_to_text
from connect_core.interval.runs import RunOutcome, RunRequest
from connect_core.java.properties import format_properties
from connect_core.settings import WorkerSettings
from connect_core.settings.private_folder import private_folder
from connect_core.spark.code import build_archive
from connect_core.spark.report import take_report

if TYPE_CHECKING:
    from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
    from airflow.sdk import Context

__all__ = ["ConnectorSubmitOperator"]

_KUBERNETES = "apache-airflow-providers-cncf-kubernetes"


class ConnectorSubmitOperator(ConnectorTask, SparkSubmitOperator):
    """Run a connector by ``spark-submit``, with its driver here or on the cluster.

    The code goes along, so that neither driver nor executors need connect-core installed. The application's arguments
    are the encoded request and a ticket: under that the driver leaves its report in the metadata database. Spark's
    settings are passed in a file, secrets in the environment.
    """

    application_module: ClassVar[str] = "connect_core.spark.submit"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        # A repeated task starts a driver of its own, and its epoch ends that of the earlier one. To find the earlier
        # one again, the provider would have to reach the API of YARN or Kubernetes.
        self.durable = False

    def drive(self, request: RunRequest, context: Context) -> RunOutcome:
        """Carry out one run in a Spark application. Raises ConnectError."""
        settings, ticket = worker_settings(), uuid.uuid4().hex
        why = ""
        with tempfile.TemporaryDirectory(prefix="connect-") as folder:
            self._prepare(settings, Path(folder, "spark.properties"))
            self.application_args = [request_to_text(request), ticket]
            try:
                SparkSubmitOperator.execute(self, context)
            except AirflowException as error:
                why = f": {error}"
        report = take_report(settings.database_url, ticket)
        if report is None:
            raise RetriableError(
                f"The driver of connector {self.connector} ended without a report{why}. Its log names the cause. A "
                "driver on the cluster must have CONNECT_DATABASE_URL and the worker's settings in its environment."
            )
        end, self.job_url = report_from_text(report)
        if isinstance(end, ConnectError):
            raise end
        return end

    def _prepare(self, settings: WorkerSettings, properties: Path) -> None:
        spec = find_spec(self.application_module)
        assert spec is not None
        assert spec.origin is not None
        self._hook = self._hook_of_provider()
        place = self._hook._connection
        destination = Destination(self._conn_id, place["master"], place["deploy_mode"])
        given = settings.spark_properties
        properties.write_text(format_properties(spark_properties(destination, given)))
        self.application = spec.origin
        self.py_files = py_files(build_archive(private_folder("code")).path, given)
        self.properties_file = str(properties)
        self._hook = None

    def _hook_of_provider(self) -> SparkSubmitHook:
        """Return the provider's hook. Raises ConnectError if it lacks what it needs for a master on Kubernetes."""
        try:
            return self._get_hook()
        except (NameError, RuntimeError) as error:
            if find_spec("airflow.providers.cncf") is not None:
                raise
            # The provider asks for a name that it imports only where that is installed.
            raise ConnectError(
                f"Airflow's Spark provider does not start Spark's driver ({error}). For a master k8s://… it needs "
                f"{_KUBERNETES}: install it where Airflow runs tasks"
            ) from error
