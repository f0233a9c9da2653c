"""The worker's settings: Connect's properties files and the environment."""

from connect_core.settings.environment import WORKER_CONFIG_VARIABLE
from connect_core.settings.files import load_worker_settings, log_worker_settings
from connect_core.settings.keys import WorkerMode
from connect_core.settings.listeners import Listener
from connect_core.settings.topics import InternalTopic
from connect_core.settings.worker import WorkerSettings

__all__ = [
    "WORKER_CONFIG_VARIABLE",
    "InternalTopic",
    "Listener",
    "WorkerMode",
    "WorkerSettings",
    "load_worker_settings",
    "log_worker_settings",
]
