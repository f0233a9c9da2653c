"""Connectors as Airflow's DAGs: the factory, the tasks, the waits and the scheduler."""
