"""The worker's settings as a ConfigDef: what is honoured, with defaults and documentation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from connect_core.api.config import CaseInsensitiveValidString, ConfigDef, ConfigType, Importance, Range, ValidString
from connect_core.errors import ConfigError
from connect_core.settings.keys import WorkerMode
from connect_core.settings.listeners import parse_listener

__all__ = ["OVERRIDE_POLICIES", "definition"]

OVERRIDE_POLICIES = ("None", "Principal", "All", "Allowlist")

_CRON = r"[0-9A-Za-z*/,?#-]+( +[0-9A-Za-z*/,?#-]+){4}"
_REST, _SPARK, _AIRFLOW, _TOPICS, _JAVA = "REST", "Spark", "Airflow", "Internal topics", "Java plugins"


@dataclass(frozen=True, slots=True)
class _Listeners:
    """Accept addresses such as ``http://127.0.0.1:8083``; ``is_needed``: at least one."""

    is_needed: bool = False

    def ensure_valid(self, name: str, value: Any) -> None:
        if self.is_needed and not value:
            raise ConfigError(name, '""', "give at least one URL, such as http://127.0.0.1:8083, or leave it out")
        for address in value or ():
            parse_listener(name, address)

    def __str__(self) -> str:
        return "List of comma-separated URLs, ex: http://localhost:8080,https://localhost:8443."


class _Times:
    """Accept one of Airflow's presets, or a cron expression; null for never."""

    presets = ("@hourly", "@daily", "@weekly", "@monthly", "@quarterly", "@yearly")

    def ensure_valid(self, name: str, value: Any) -> None:
        if value is not None and value not in self.presets and not re.fullmatch(_CRON, value):
            raise ConfigError(name, value, f"Use {', '.join(self.presets)}, or a cron expression such as 30 3 * * *")

    def __str__(self) -> str:
        return f"[{', '.join(self.presets)}], or a cron expression"


class _TopicCount:
    """Accept a positive number, or -1 for the broker's default."""

    def ensure_valid(self, name: str, value: Any) -> None:
        if value is not None and value != -1 and value < 1:
            raise ConfigError(name, value, "Value must be positive, or -1 to use the broker's default")

    def __str__(self) -> str:
        return "Positive number, or -1 to use the broker's default"


@cache
def definition(mode: WorkerMode) -> ConfigDef:
    """Return the definition of a worker's settings; treat as constant."""
    config = ConfigDef()
    for add in (_kafka, _converters, _work, _verification, _files, _topics, _rest, _plugins, _java_plugins, _stack):
        add(config, mode)
    return config


def _kafka(config: ConfigDef, mode: WorkerMode) -> None:
    config.define(
        "bootstrap.servers",
        ConfigType.LIST,
        "localhost:9092",
        doc="Host and port of some of the Kafka brokers, separated by commas; the clients find the others from them.",
    )
    config.define(
        "worker.mode",
        ConfigType.STRING,
        mode.value,
        validator=ValidString.one_of(*(known.value for known in WorkerMode)),
        importance=Importance.LOW,
        doc="How the worker runs; set by the command that starts it.",
    )
    if mode is WorkerMode.DISTRIBUTED:
        config.define(
            "group.id",
            ConfigType.STRING,
            doc="Name of the deployment: workers, runs and drivers with the same name share connectors and offsets. On "
            "one Kafka cluster it belongs to one metadata database; another one is rejected.",
        )
        config.define(
            "metadata.replaces",
            ConfigType.STRING,
            "",
            doc="The id of a metadata database that is permanently lost, whose group.id this one takes over, and whose "
            "source connectors of the same names in the same offsets topic; the error message contains it.",
        )
        return
    config.define(
        "offset.storage.file.filename",
        ConfigType.STRING,
        doc="Where a Java standalone worker stores source offsets; here, the SQLite database is in the same folder.",
    )
    config.define(
        "standalone.id",
        ConfigType.STRING,
        None,
        importance=Importance.LOW,
        doc="Identity of the standalone deployment; created once and stored in its database.",
    )


def _converters(config: ConfigDef, mode: WorkerMode) -> None:
    doc = "Converter of record {} between Connect data and the bytes in Kafka, for connectors that do not set one."
    for part in ("key", "value"):
        config.define(f"{part}.converter", ConfigType.STRING, doc=doc.format(f"{part}s"))
    config.define(
        "header.converter",
        ConfigType.STRING,
        "org.apache.kafka.connect.storage.SimpleHeaderConverter",
        importance=Importance.LOW,
        doc=doc.format("headers"),
    )


def _work(config: ConfigDef, mode: WorkerMode) -> None:
    _milliseconds(config, "task.shutdown.graceful.timeout.ms", 5000, "How long tasks may take to shut down.")
    _milliseconds(
        config, "offset.flush.interval.ms", 60000, "How often a task commits, if nothing else ends a transaction."
    )
    _milliseconds(config, "offset.flush.timeout.ms", 5000, "How long one flush or commit may take.")
    _milliseconds(
        config,
        "stalled.after.ms",
        60000,
        "How long work may wait without progress before its connector is shown as stalled, with the reason.",
    )
    _milliseconds(
        config,
        "run.lost.after.ms",
        60000,
        "How long the task of a run may be queued in Airflow, without a lease or a heartbeat, before it counts "
        "as lost and is cleared; doubled each time it is lost again.",
    )
    _milliseconds(
        config,
        "history.retention.ms",
        30 * 24 * 60 * 60 * 1000,
        "How long past intervals, offset changes, skipped records and Airflow's runs of connectors are kept.",
    )
    _count(
        config,
        "history.retention.count",
        ConfigType.INT,
        10_000,
        "Maximum number of past intervals, offset changes and Airflow runs kept for a connector; its last 100 "
        "intervals and its newest run are always kept.",
    )
    _flag(
        config,
        "topic.creation.enable",
        "Whether topics of source connectors are created with the connectors' settings.",
    )
    _flag(config, "topic.tracking.enable", "Whether the topics that a connector uses are tracked.")
    _flag(config, "topic.tracking.allow.reset", "Whether the topics that a connector uses may be reset through REST.")
    _flag(config, "connect.validate.live", "Whether validation also contacts the systems in a configuration.")


def _verification(config: ConfigDef, mode: WorkerMode) -> None:
    config.define(
        "verification.schedule",
        ConfigType.STRING,
        None,
        validator=_Times(),
        importance=Importance.LOW,
        doc="When Airflow recounts what all sinks have written, as connect verify does: @daily, another preset, or a "
        "cron expression. By default never.",
    )
    _milliseconds(
        config,
        "verification.timeout.ms",
        600_000,
        "How long such a recount of one sink may take, from its newest interval back.",
    )


def _files(config: ConfigDef, mode: WorkerMode) -> None:
    config.define(
        "file.roots",
        ConfigType.LIST,
        ".,/tmp" if mode is WorkerMode.STANDALONE else [],
        importance=Importance.HIGH,
        doc="Folders, separated by commas, that file connectors may read and write. Default: the working directory "
        "and /tmp in standalone mode; otherwise none, and file connectors are disabled.",
    )
    config.define(
        "file.roots.excluded",
        ConfigType.LIST,
        [],
        importance=Importance.MEDIUM,
        doc="Folders and files under file.roots that no connector may access, in addition to the worker's own: its "
        "state, settings and key, Airflow's home, DAGs and plugins, Python's installation, and hidden entries of the "
        "home folder. A root within one of them is allowed.",
    )
    config.define(
        "jdbc.query.allowed",
        ConfigType.BOOLEAN,
        mode is WorkerMode.STANDALONE,
        importance=Importance.MEDIUM,
        doc="Whether JDBC sources may use custom queries: these can read everything the connection's user may. "
        "Default: true in standalone mode, where the users who create connectors own the worker; otherwise false.",
    )


def _topics(config: ConfigDef, mode: WorkerMode) -> None:
    is_distributed = mode is WorkerMode.DISTRIBUTED
    for prefix, partitions, purpose in (("offset", 25, "source offsets"), ("status", 5, "the tasks' heartbeats")):
        name = f"{prefix}.storage.topic"
        doc = f"Kafka topic of {purpose}; its default in standalone mode ends with the standalone id."
        if is_distributed:
            config.define(name, ConfigType.STRING, doc=doc, group=_TOPICS)
        else:
            config.define(name, ConfigType.STRING, None, doc=doc, group=_TOPICS)
        _count(config, f"{prefix}.storage.partitions", ConfigType.INT, partitions, "Partitions of that topic.")
        factor = 3 if is_distributed else -1
        _count(config, f"{prefix}.storage.replication.factor", ConfigType.SHORT, factor, "Replicas of that topic.")


def _rest(config: ConfigDef, mode: WorkerMode) -> None:
    config.define(
        "listeners",
        ConfigType.LIST,
        "http://127.0.0.1:8083",
        validator=_Listeners(is_needed=True),
        importance=Importance.LOW,
        doc="Addresses of the REST API. An empty host means the loopback interface.",
        group=_REST,
    )
    config.define(
        "admin.listeners",
        ConfigType.LIST,
        None,
        validator=_Listeners(),
        importance=Importance.LOW,
        doc="Addresses of the admin endpoints; not set: those of listeners; empty: the endpoints are disabled.",
        group=_REST,
    )
    for name, doc in (
        ("rest.advertised.host.name", "Host advertised for the worker, if different from the listener's."),
        ("rest.advertised.listener", "Protocol advertised for the worker: http or https."),
        ("access.control.allow.origin", "Origins that browsers may call the REST API from."),
        ("access.control.allow.methods", "HTTP methods allowed for such origins."),
        ("response.http.headers.config", "HTTP headers added to every response."),
    ):
        config.define(name, ConfigType.STRING, None, importance=Importance.LOW, doc=doc, group=_REST)
    config.define(
        "rest.authentication",
        ConfigType.STRING,
        "none",
        validator=ValidString.one_of("none", "airflow"),
        importance=Importance.MEDIUM,
        doc="Whether `connect rest` requires a login: none, on the loopback interface only; airflow: Basic "
        "credentials or a Bearer token of Airflow's users, with their permissions.",
        group=_REST,
    )
    doc = "Port advertised for the worker, if different from the listener's."
    config.define("rest.advertised.port", ConfigType.INT, None, importance=Importance.LOW, doc=doc, group=_REST)


def _plugins(config: ConfigDef, mode: WorkerMode) -> None:
    config.define(
        "config.providers",
        ConfigType.LIST,
        [],
        importance=Importance.LOW,
        doc="Names of the providers that resolve ${name:…} in configurations: env, file, dir; none by default.",
    )
    config.define(
        "connector.client.config.override.policy",
        ConfigType.STRING,
        "Allowlist",
        validator=CaseInsensitiveValidString.one_of(*OVERRIDE_POLICIES),
        importance=Importance.MEDIUM,
        doc="Which client settings a connector may override: None, Principal, All, Allowlist. Whatever the policy, "
        "settings that load code, run programs or read files are refused, and where and how a client connects that "
        "logs in as the worker.",
    )
    config.define(
        "connector.client.config.override.allowlist",
        ConfigType.LIST,
        None,
        importance=Importance.MEDIUM,
        doc="The settings that connectors may override with the policy Allowlist; by default, tuning settings.",
    )
    config.define(
        "secret.key.file",
        ConfigType.STRING,
        None,
        importance=Importance.HIGH,
        doc="File with the key that encrypts passwords in configurations; the same on driver and workers. In "
        "standalone mode, by default one is created next to the database.",
    )


def _java_plugins(config: ConfigDef, mode: WorkerMode) -> None:
    config.define(
        "plugin.path",
        ConfigType.LIST,
        [],
        importance=Importance.MEDIUM,
        doc="Folders and jars with Connect's Java plugins, separated by commas; the same on REST servers, drivers and "
        "Spark workers. Each plugin runs in its own Java process.",
        group=_JAVA,
    )
    config.define(
        "plugin.discovery",
        ConfigType.STRING,
        "hybrid_warn",
        validator=CaseInsensitiveValidString.one_of("only_scan", "hybrid_warn", "hybrid_fail", "service_load"),
        importance=Importance.LOW,
        doc="How plugins are found in plugin.path (KIP-898): by scanning all classes, by service files, or both.",
        group=_JAVA,
    )
    for name, default, doc in (
        (
            "java.plugin.libs",
            None,
            "Folder with Connect's Java runtime: the folder libs of an Apache Kafka "
            "installation. Default: where `connect java fetch` puts it.",
        ),
        (
            "java.plugin.heap",
            "512m",
            "Memory of each Java process (-Xmx); a connector may set its own value with the same key.",
        ),
        ("java.plugin.heap.max", "2g", "The maximum that a connector may set."),
        ("java.plugin.options", "", "Further options of each Java process, as a shell would read them."),
    ):
        config.define(name, ConfigType.STRING, default, importance=Importance.LOW, doc=doc, group=_JAVA)
    config.define(
        "java.plugins.preferred",
        ConfigType.LIST,
        [],
        importance=Importance.LOW,
        doc="Class names, with * for any characters, whose Java plugins are used even if there are built-in ones.",
        group=_JAVA,
    )
    _milliseconds(
        config,
        "java.plugin.idle.ms",
        60000,
        "How long a Java process waits for its connector's next interval before it ends; 0: not at all.",
    )


def _stack(config: ConfigDef, mode: WorkerMode) -> None:
    config.define(
        "database.url",
        ConfigType.PASSWORD,
        None,
        doc="SQLAlchemy URL of the metadata database; in standalone mode, by default SQLite next to "
        "offset.storage.file.filename. Spark workers neither need nor receive it.",
    )
    config.define(
        "spark.mode",
        ConfigType.STRING,
        "local" if mode is WorkerMode.STANDALONE else "connect",
        validator=ValidString.one_of("connect", "submit", "local"),
        importance=Importance.MEDIUM,
        doc="Where intervals run: a Spark Connect server, a spark-submit by Airflow's operator, this process.",
        group=_SPARK,
    )
    doc = "Address of the Spark Connect server, as sc://host:15002."
    config.define("spark.remote", ConfigType.PASSWORD, None, importance=Importance.MEDIUM, doc=doc, group=_SPARK)
    for name, doc in (
        ("airflow.url", "Address of Airflow's API server."),
        ("airflow.user", "User this service calls Airflow as."),
        ("airflow.password.file", "File holding that user's password."),
    ):
        config.define(name, ConfigType.STRING, None, importance=Importance.MEDIUM, doc=doc, group=_AIRFLOW)


def _milliseconds(config: ConfigDef, name: str, default: int, doc: str) -> None:
    validator = Range.at_least(0)
    config.define(name, ConfigType.LONG, default, validator=validator, importance=Importance.LOW, doc=doc)


def _flag(config: ConfigDef, name: str, doc: str) -> None:
    config.define(name, ConfigType.BOOLEAN, True, importance=Importance.LOW, doc=doc)


def _count(config: ConfigDef, name: str, kind: ConfigType, default: int, doc: str) -> None:
    validator = _TopicCount()
    config.define(name, kind, default, validator=validator, importance=Importance.LOW, doc=doc, group=_TOPICS)
