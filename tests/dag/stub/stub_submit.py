"""A stand-in for the application of spark-submit."""

import os
import sys

from connect_core.errors import ConnectError
from connect_core.interval.reports import report_to_text, request_from_text
from connect_core.interval.runs import RunOutcome
from connect_core.spark.remote import run_connector
from connect_core.spark.report import leave_report

urls: list[str] = []
try:
    end: RunOutcome | ConnectError = run_connector(request_from_text(sys.argv[1]), urls.append)
except ConnectError as error:
    end = error
leave_report(os.environ["CONNECT_DATABASE_URL"], sys.argv[2], report_to_text(end, urls[-1] if urls else ""))
sys.exit(1 if isinstance(end, ConnectError) else 0)
