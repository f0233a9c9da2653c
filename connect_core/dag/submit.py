"""The task ``run`` of a connector's DAG, as the driver of a spark-submit."""

from __future__ import annotations

import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.common.compat.sdk import AirflowException

from connect_core.dag.connector_task import ConnectorTask
from connect_core.dag.wiring import worker_settings
from connect_core.errors import ConnectError
from connect_core.interval.reports import report_from_text, request_to_text
from connect_core.interval.runs import RunOutcome, RunRequest, RunStatus
from connect_core.java.properties import format_properties

if TYPE_CHECKING:
    from airflow.sdk import Context

__all__ = ["ConnectorSubmitOperator"]


class ConnectorSubmitOperator(ConnectorTask, SparkSubmitOperator):
    """Run a connector by ``spark-submit``.

    The application's arguments are the encoded request and the path for its
    report; Spark's settings are passed in a file, secrets in the environment.
    A driver on another host cannot write its report here: then only the exit
    code is known, and the rest is in the metadata database.
    """

    application_module: ClassVar[str] = "connect_core.spark.submit"

    def drive(self, request: RunRequest, context: Context) -> RunOutcome:
        """Carry out one run in a Spark application. Raises ConnectError."""
        with tempfile.TemporaryDirectory(prefix="connect-") as folder:
            report = Path(folder, "report.json")
            self._prepare(request, Path(folder, "spark.properties"), report)
            try:
                SparkSubmitOperator.execute(self, context)
            except AirflowException:
                if not report.exists():
                    raise
            return self._read(report)

    def _prepare(self, request: RunRequest, properties: Path, report: Path) -> None:
        spec = find_spec(self.application_module)
        assert spec is not None
        assert spec.origin is not None
        properties.write_text(format_properties(_spark_properties()))
        self.application = spec.origin
        self.application_args = [request_to_text(request), str(report)]
        self.properties_file = str(properties)
        self._hook = None

    def _read(self, report: Path) -> RunOutcome:
        if not report.exists():
            return RunOutcome(RunStatus.DRAINED)
        end, self.job_url = report_from_text(report.read_text())
        if isinstance(end, ConnectError):
            raise end
        return end


def _spark_properties() -> dict[str, str]:
    given = worker_settings().spark_properties
    if "PYSPARK_PYTHON" in os.environ:
        return given
    own: dict[str, Any] = {"spark.pyspark.driver.python": sys.executable, "spark.pyspark.python": sys.executable}
    return {**own, **given}
