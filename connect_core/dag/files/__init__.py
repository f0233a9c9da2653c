"""Folder that contains only the DAG file that Airflow parses."""
