"""Kubernetes resources that define connectors: Strimzi's ``KafkaConnector`` and Confluent's ``Connector``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from connect_core.errors import ConfigError
from connect_core.migration.definitions import STATES, Definition

__all__ = ["confluent_manifest", "read_manifests", "strimzi_manifest"]

_STRIMZI, _CONFLUENT = "KafkaConnector", "Connector"
_STRIMZI_GROUP, _CONFLUENT_GROUP = "kafka.strimzi.io/", "platform.confluent.io/"
_CLASS, _TASKS, _VERSION = "connector.class", "tasks.max", "connector.plugin.version"
_OPERATOR = {
    "autoRestart": "failed runs are retried automatically",
    "restartPolicy": "failed runs are retried automatically",
    "listOffsets": "use GET /connectors/NAME/offsets",
    "alterOffsets": "use PATCH /connectors/NAME/offsets",
    "connectRest": "the connectors belong to this deployment",
    "connectClusterRef": "the connectors belong to this deployment",
}
"""Fields for a Kubernetes operator, and what replaces them here."""
_DNS_NAME = re.compile(r"[^a-z0-9.-]+")


_YES, _NO = frozenset({"true", "yes", "y", "on"}), frozenset({"false", "no", "n", "off"})
"""Booleans of YAML 1.1, as Kubernetes reads them."""
_WORD_TAG = "tag:yaml.org,2002:bool-of-1.1"


class _Word(str):
    """An unquoted ``yes``, ``no``, ``on`` or ``off``: a boolean as a setting, a text as a name."""

    __slots__ = ()


class _Loader(yaml.SafeLoader):
    """Reads scalars as text: a version 1.10 stays as it is, as do dates and ``0x10``; refuses equal keys."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """Compose a map. Raise ConstructorError for a key that is given twice, which Kubernetes refuses too."""
        node = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(None, None, f"{key.value} is given twice", key.start_mark)
                seen.add(key.value)
        return node


def _as_written(loader: Any, node: Any) -> str:
    return str(loader.construct_scalar(node))


_Loader.yaml_implicit_resolvers = {}
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(~|null|Null|NULL|)$"), ["~", "n", "N", ""])
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile(r"^<<$"), ["<"])
# The casings of sigs.k8s.io/yaml, which kubectl reads resources with.
_Loader.add_implicit_resolver(
    _WORD_TAG, re.compile(r"^(y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF)$"), list("yYnNoO")
)
_Loader.add_constructor(_WORD_TAG, lambda loader, node: _Word(_as_written(loader, node)))
for _tag in ("int", "float"):
    # A number with an explicit tag stays as it is written, too.
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", _as_written)


def read_manifests(text: str, place: str) -> list[Definition]:
    """Return the connectors of a YAML text, which may contain several documents and lists of resources.

    Resources of other kinds are skipped. Raise ConfigError naming the place.
    """
    try:
        documents = list(yaml.load_all(text, _Loader))
    except (yaml.YAMLError, RecursionError, ValueError, LookupError, AttributeError) as error:
        # The last two: a value that is not of its explicit tag, as !!bool maybe.
        remedy = ": render the chart first (helm template)" if "{{" in text else ""
        raise ConfigError(f"Cannot read {place}: it is not YAML ({_first_line(error)}){remedy}") from error
    resources = list(_resources(documents))
    for one in resources:
        _refuse_lookalike(one, place)
    return [_definition(one, place) for one in resources if _is_connector(one)]


def _refuse_lookalike(resource: Mapping[str, Any], place: str) -> None:
    """A connector that is skipped for a slip of the pen would be deleted by ``connect apply --prune``."""
    if _is_connector(resource):
        return
    spec = resource.get("spec")
    group, kind = resource.get("apiVersion"), resource.get("kind")
    if isinstance(spec, Mapping) and "class" in spec and spec.keys() & {"config", "configs", "tasksMax", "taskMax"}:
        remedy = f"write {_STRIMZI} of {_STRIMZI_GROUP}v1beta2, or {_CONFLUENT} of {_CONFLUENT_GROUP}v1beta1"
        raise ConfigError("apiVersion and kind", f"{group} {kind}", f"in {place}, {remedy}")
    plain = resource.get("config")
    if kind is None and _CLASS in {**resource, **(plain if isinstance(plain, Mapping) else {})}:
        raise ConfigError("kind", None, f"in {place}, write it as {_STRIMZI}, or as JSON: {{name, config}}")


def _first_line(error: Exception) -> str:
    # The rest of the message quotes the file, which may contain secrets.
    mark = getattr(error, "problem_mark", None)
    where = "" if mark is None else f", line {mark.line + 1}"
    return f"{getattr(error, 'problem', None) or type(error).__name__}{where}"


def _resources(documents: list[Any]) -> Iterator[Mapping[str, Any]]:
    for document in documents:
        if not isinstance(document, Mapping):
            continue
        if str(document.get("kind", "")).endswith("List"):
            items = document.get("items")
            yield from (one for one in items or () if isinstance(one, Mapping)) if isinstance(items, list) else ()
        else:
            yield document


def _is_connector(resource: Mapping[str, Any]) -> bool:
    group, kind = str(resource.get("apiVersion", "")), resource.get("kind")
    return (kind == _STRIMZI and group.startswith(_STRIMZI_GROUP)) or (
        kind == _CONFLUENT and _CONFLUENT_GROUP in f"{group}"
    )


def _definition(resource: Mapping[str, Any], place: str) -> Definition:
    metadata, spec = _part(resource, "metadata", place), _part(resource, "spec", place)
    name = str(spec.get("name") or metadata.get("name") or "")
    if not name:
        raise ConfigError("metadata.name", None, f"in {place}, give the connector's name")
    where = f"{place} ({resource['kind']} {name})"
    is_strimzi = resource["kind"] == _STRIMZI
    keys = ("tasksMax", "config") if is_strimzi else ("taskMax", "configs")
    own = {"class": _CLASS, keys[0]: _TASKS, "version": _VERSION}
    fields = {key: _text(spec[field], field, where) for field, key in own.items() if spec.get(field) is not None}
    given = spec.get(keys[1]) or {}
    if not isinstance(given, Mapping):
        raise ConfigError(f"spec.{keys[1]}", type(given).__name__, f"in {where}, write a map of settings")
    # The resource's own fields win, as with Strimzi's operator.
    config = {str(key): _text(value, str(key), where) for key, value in given.items() if key != "name"} | fields
    notes = tuple(f"{field} is not needed: {why}" for field, why in _OPERATOR.items() if field in spec)
    state = _state(spec, where) if is_strimzi else None
    return Definition(name, config, state, is_state_kept=is_strimzi, place=where, notes=notes)


def _part(resource: Mapping[str, Any], name: str, place: str) -> Mapping[str, Any]:
    part = resource.get(name) or {}
    if not isinstance(part, Mapping):
        raise ConfigError(name, type(part).__name__, f"in {place}, write a map")
    return part


def _state(spec: Mapping[str, Any], place: str) -> str:
    state = str(spec.get("state") or ("paused" if _is_paused(spec, place) else "running")).upper()
    if state not in STATES:
        raise ConfigError("spec.state", spec["state"], f"in {place}, write running, paused or stopped")
    return state


def _is_paused(spec: Mapping[str, Any], place: str) -> bool:
    word = str(spec.get("pause") or False).lower()
    if word not in _YES | _NO:
        raise ConfigError("spec.pause", spec["pause"], f"in {place}, write true or false")
    return word in _YES


def _text(value: Any, key: str, place: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, _Word):
        return "true" if value.lower() in _YES else "false"
    if isinstance(value, str):
        return value
    if value is None:
        raise ConfigError(key, None, f"in {place}, give the setting a value, or leave it out")
    raise ConfigError(key, type(value).__name__, f"in {place}, write a text, number or boolean")


def strimzi_manifest(one: Definition, cluster: str) -> str:
    """Return a ``KafkaConnector`` of a Connect cluster as YAML."""
    spec: dict[str, Any] = {"class": one.config.get(_CLASS, "")}
    if _TASKS in one.config:
        spec["tasksMax"] = _number(one.config[_TASKS])
    if one.config.get(_VERSION) is not None:
        spec["version"] = one.config[_VERSION]
    spec |= {"state": (one.state or "RUNNING").lower(), "config": _without(one.config, _CLASS, _TASKS, _VERSION)}
    # A resource's name is the connector's: Strimzi has no other field for it.
    metadata = {"name": one.name, "labels": {"strimzi.io/cluster": cluster}}
    return _yaml({"apiVersion": "kafka.strimzi.io/v1beta2", "kind": _STRIMZI, "metadata": metadata, "spec": spec})


def confluent_manifest(one: Definition, cluster: str) -> str:
    """Return a ``Connector`` of Confluent for Kubernetes as YAML."""
    resource = _DNS_NAME.sub("-", one.name.lower()).strip("-.") or "connector"
    spec: dict[str, Any] = {} if resource == one.name else {"name": one.name}
    spec |= {
        "class": one.config.get(_CLASS, ""),
        "taskMax": _number(one.config.get(_TASKS, "1")),
        "configs": _without(one.config, _CLASS, _TASKS),
        "connectClusterRef": {"name": cluster},
    }
    head = {"apiVersion": "platform.confluent.io/v1beta1", "kind": _CONFLUENT, "metadata": {"name": resource}}
    return _yaml({**head, "spec": spec})


def _without(config: Mapping[str, str], *keys: str) -> dict[str, str]:
    return {key: value for key, value in config.items() if key not in keys and key != "name"}


def _number(text: str) -> int | str:
    return int(text) if text.strip().isascii() and text.strip().isdigit() else text


def _yaml(resource: Mapping[str, Any]) -> str:
    """Return a resource as YAML; strings are quoted, so that no parser reads them as another type."""
    return yaml.dump(_quoted(resource), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10**6)


class _Dumper(yaml.SafeDumper):
    """Writes settings' values in quotes."""


class _Quoted(str):
    __slots__ = ()


_Dumper.add_representer(
    _Quoted,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style='"'),
)


def _quoted(resource: Mapping[str, Any]) -> dict[str, Any]:
    spec = dict(resource["spec"])
    for part in ("config", "configs"):
        if part in spec:
            spec[part] = {key: _Quoted(value) for key, value in spec[part].items()}
    return {**resource, "spec": spec}
