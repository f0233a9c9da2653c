"""From a connector's raw configuration to a frozen ConnectorConfig, or to its errors."""

from connect_core.configs.connector import ConnectorConfig, ErrorSettings
from connect_core.configs.files import ConnectorFile, read_connector_file
from connect_core.configs.hiding import Hiding
from connect_core.configs.infos import ConfigInfos, ConfigKeyInfo, ValidatedConfig, ValidatedSetting
from connect_core.configs.providers import ConfigProviders, unresolve
from connect_core.configs.redaction import Redaction
from connect_core.configs.secrets import HIDDEN, SecretBox, keep_hidden, mask, mask_task, seal_config, sensitive_keys
from connect_core.configs.stages import TransformationStage
from connect_core.configs.topic_creation import TopicCreationGroup, group_of_topic
from connect_core.configs.validation import plugin_config, validate
from connect_core.configs.worker import load_worker, providers_of, task_worker, task_worker_properties

__all__ = [
    "HIDDEN",
    "ConfigInfos",
    "ConfigKeyInfo",
    "ConfigProviders",
    "ConnectorConfig",
    "ConnectorFile",
    "ErrorSettings",
    "Hiding",
    "Redaction",
    "SecretBox",
    "TopicCreationGroup",
    "TransformationStage",
    "ValidatedConfig",
    "ValidatedSetting",
    "group_of_topic",
    "keep_hidden",
    "load_worker",
    "mask",
    "mask_task",
    "plugin_config",
    "providers_of",
    "read_connector_file",
    "seal_config",
    "sensitive_keys",
    "task_worker",
    "task_worker_properties",
    "unresolve",
    "validate",
]
