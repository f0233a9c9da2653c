"""The application of a ``spark-submit``: one run of one connector in this driver, which may be on any machine.

Arguments: the encoded request, and the ticket under which the run's report is left in the metadata database.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession

from connect_core.errors import ConnectError
from connect_core.interval.reports import report_to_text, request_from_text
from connect_core.interval.runs import RunOutcome
from connect_core.run.loop import drive
from connect_core.spark.remote import environment_settings
from connect_core.spark.report import leave_report
from connect_core.spark.runner import SparkRunner

__all__ = ["submit"]


def submit(arguments: Sequence[str]) -> int:
    """Run the connector and leave the report → the exit status."""
    text, ticket = arguments
    request, settings = request_from_text(text), environment_settings()
    database_url = settings.database_url
    builder: Any = SparkSession.builder
    session = builder.appName(f"connect-{request.run_id}").getOrCreate()
    try:
        end: RunOutcome | ConnectError = drive(request, settings, lambda: SparkRunner(session))
    except ConnectError as error:
        end = error
    leave_report(database_url, ticket, report_to_text(end, session.sparkContext.uiWebUrl or ""))
    session.stop()
    return 1 if isinstance(end, ConnectError) else 0


if __name__ == "__main__":
    sys.exit(submit(sys.argv[1:]))
