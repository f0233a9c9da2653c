"""Loads the plugin if connect-core is on Airflow's path but not installed; else Airflow finds it by its entry point."""

from importlib.metadata import entry_points

if not entry_points(group="airflow.plugins", name="connect"):
    from connect_core.dag.plugin import ConnectPlugin as ConnectPlugin
