"""The file Airflow parses: one DAG per stored connector, and connect_housekeeping."""

from connect_core.dag.stored import stored_dags

globals().update(stored_dags())
