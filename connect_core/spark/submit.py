"""The application of a ``spark-submit``: one run of one connector in this driver.

Arguments: the encoded request, and the path to write the run's report to.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from connect_core.errors import ConnectError
from connect_core.interval.reports import report_to_text, request_from_text
from connect_core.interval.runs import RunOutcome
from connect_core.run.loop import drive
from connect_core.spark.remote import environment_settings
from connect_core.spark.runner import SparkRunner

__all__ = ["submit"]


def submit(arguments: Sequence[str]) -> int:
    """Run the connector and write the report → the exit status."""
    text, report = arguments
    request = request_from_text(text)
    builder: Any = SparkSession.builder
    session = builder.appName(f"connect-{request.run_id}").getOrCreate()
    try:
        end: RunOutcome | ConnectError = drive(request, environment_settings(), lambda: SparkRunner(session))
    except ConnectError as error:
        end = error
    Path(report).write_text(report_to_text(end, session.sparkContext.uiWebUrl or ""))
    session.stop()
    return 1 if isinstance(end, ConnectError) else 0


if __name__ == "__main__":
    sys.exit(submit(sys.argv[1:]))
