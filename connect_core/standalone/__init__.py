"""Connectors without Airflow: one process that schedules and drives them all."""
