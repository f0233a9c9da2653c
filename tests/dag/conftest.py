"""Keeps Airflow, which unit tests only import, away from the user's own."""

import os
import tempfile

os.environ.setdefault("AIRFLOW_HOME", tempfile.mkdtemp(prefix="airflow-"))
