"""Connectors as Airflow DAGs: the factory, the tasks, the waits and the scheduler."""
