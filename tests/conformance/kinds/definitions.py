"""ConfigDef and group_partitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from connect_core.api.config import (
    NO_DEFAULT,
    CaseInsensitiveValidString,
    CompositeValidator,
    ConfigDef,
    ConfigType,
    Importance,
    ListSize,
    NonEmptyString,
    NonEmptyStringWithoutControlChars,
    NonNullValidator,
    Range,
    Validator,
    ValidList,
    ValidString,
    Width,
    convert_to_string,
    parse_type,
)
from connect_core.api.config.key import KeyTraits
from connect_core.api.data import to_text
from connect_core.api.partitions import group_partitions
from connect_core.errors import ConfigError
from tests.conformance.case import Case
from tests.conformance.classes import resolve
from tests.conformance.decode import decode_value
from tests.conformance.encode import encode_value
from tests.conformance.stages import step

__all__ = ["KINDS", "encode_config_value"]

Json = Any
_WIDTHS = {
    ConfigType.INT: "@int32",
    ConfigType.SHORT: "@int16",
    ConfigType.LONG: "@int64",
    ConfigType.DOUBLE: "@float64",
}


def encode_config_value(type: ConfigType, value: Any) -> Json:
    """Return a parsed setting; its type tells a plain number's width."""
    if value is not None and type in _WIDTHS:
        return {_WIDTHS[type]: value}
    return encode_value(None, value)


@dataclass(frozen=True)
class _Recommender:
    content: Json

    def valid_values(self, name: str, parsed: Mapping[str, Any]) -> Sequence[Any]:
        if "error" in self.content:
            raise ConfigError(self.content["error"])
        if "valuesBy" in self.content:
            by = self.content["valuesBy"]
            return [decode_value(value) for value in by["cases"].get(to_text(parsed.get(by["key"])), [])]
        return [decode_value(value) for value in self.content.get("values", [])]

    def visible(self, name: str, parsed: Mapping[str, Any]) -> bool:
        if "visibleIf" in self.content:
            wanted = self.content["visibleIf"]
            return bool(parsed.get(wanted["key"]) == decode_value(wanted["equals"]))
        return bool(self.content.get("visible", True))


_VALIDATORS: dict[str, Callable[[Json], Validator]] = {
    "atLeast": lambda body: Range.at_least(decode_value(body)),
    "between": lambda body: Range.between(*map(decode_value, body)),
    "validString": lambda body: ValidString.one_of(*body),
    "caseInsensitiveValidString": lambda body: CaseInsensitiveValidString.one_of(*body),
    "validList": lambda body: ValidList.one_of(*body),
    "validListEmptyAllowed": lambda body: ValidList.one_of(*body[1], empty_allowed=body[0]),
    "anyNonDuplicateValues": lambda body: ValidList.any_non_duplicate_values(*body),
    "nonEmptyString": lambda body: NonEmptyString(),
    "nonEmptyStringWithoutControlChars": lambda body: NonEmptyStringWithoutControlChars(),
    "nonNull": lambda body: NonNullValidator(),
    "listSize": ListSize.at_most_of_size,
    "composite": lambda body: CompositeValidator.of(*map(_validator, body)),
}
_TRAITS: dict[str, tuple[str, Callable[[Json], Any]]] = {
    "validator": ("validator", lambda body: None if body is None else _validator(body)),
    "importance": ("importance", lambda body: Importance[body]),
    "doc": ("doc", lambda body: body),
    "group": ("group", lambda body: body),
    "orderInGroup": ("order", int),
    "width": ("width", lambda body: Width[body]),
    "displayName": ("display_name", lambda body: body),
    "dependents": ("dependents", tuple),
    "recommender": ("recommender", lambda body: None if body is None else _Recommender(body)),
    "internal": ("internal", bool),
    "alternative": ("alternative", lambda body: body),
}


def _validator(content: Json) -> Validator:
    ((name, body),) = content.items()
    return _VALIDATORS[name](body)


def _definition(content: Json) -> ConfigDef:
    definition = ConfigDef(resolve=resolve)
    for key in content["keys"]:
        default = decode_value(key["default"]) if "default" in key else NO_DEFAULT
        traits: KeyTraits = {}
        for name, (trait, form) in _TRAITS.items():
            if name in key:
                traits[trait] = form(key[name])  # type: ignore[literal-required]
        definition.define(key["name"], ConfigType[key["type"]], default, **traits)
    embedded = content.get("embed")
    if embedded:
        child = _definition(embedded["def"])
        definition.embed(embedded["keyPrefix"], embedded["groupPrefix"], embedded["startingOrd"], child)
    return definition


def _parse(case: Case) -> Json:
    with step("define"):
        definition = _definition(case.config)
    props = {name: decode_value(value) for name, value in case.input.items()}
    with step("parse"):
        parsed = definition.parse(props)
    keys = definition.config_keys()
    return {"@map": {name: encode_config_value(keys[name].type, value) for name, value in parsed.items()}}


def _meta(case: Case) -> Json:
    with step("define"):
        definition = _definition(case.config)
    keys, defaults = definition.config_keys(), definition.default_values()
    return {
        "names": sorted(definition.names()),
        "defaultValues": {"@map": {name: encode_config_value(keys[name].type, v) for name, v in defaults.items()}},
        "groups": definition.group_names(),
    }


def _validate(case: Case) -> Json:
    with step("define"):
        definition = _definition(case.config)
    with step("validate"):
        found = definition.validate(case.input)
    keys = definition.config_keys()
    types = {name: key.type for name, key in keys.items()}
    return [
        {
            "name": value.name,
            "value": encode_config_value(types.get(value.name, ConfigType.STRING), value.value),
            "recommendedValues": [encode_value(None, item) for item in value.recommended_values],
            "errorMessages": value.error_messages,
            "visible": value.visible,
        }
        for value in sorted(found, key=lambda value: value.name)
    ]


def _doc(case: Case) -> Json:
    with step("define"):
        definition = _definition(case.config)
    operation, modes = case.input["op"], case.input.get("updateModes")
    with step("render"):
        if operation == "toHtmlDepth":
            prefix = case.input["prefix"]
            return definition.to_html(case.input["depth"], lambda name: f"{prefix}{name}", modes)
        if operation == "toHtml":
            return definition.to_html(update_modes=modes)
        if operation == "toHtmlTable":
            return definition.to_html_table(modes)
        return definition.to_rst() if operation == "toRst" else definition.to_enriched_rst()


def _parse_type(case: Case) -> Json:
    type = ConfigType[case.input["type"]]
    value = decode_value(case.input["value"])
    with step("parse"):
        return encode_config_value(type, parse_type(case.input["name"], value, type, resolve))


def _config_to_string(case: Case) -> Json:
    type = case.input["type"]
    with step("convert"):
        return convert_to_string(decode_value(case.input["value"]), None if type is None else ConfigType[type])


def _group_partitions(case: Case) -> Json:
    with step("group"):
        return group_partitions(case.input["elements"], case.input["numGroups"])


KINDS: dict[str, Callable[[Case], Json]] = {
    "configdef_parse": _parse,
    "configdef_meta": _meta,
    "configdef_validate": _validate,
    "configdef_doc": _doc,
    "parse_type": _parse_type,
    "config_to_string": _config_to_string,
    "group_partitions": _group_partitions,
}
