"""Configuration definitions: which settings exist, and how they are read, checked and documented."""

from connect_core.api.config.abstract_config import AbstractConfig
from connect_core.api.config.definition import ConfigDef
from connect_core.api.config.key import ConfigKey, ConfigValue, Recommender
from connect_core.api.config.parsing import ClassResolver, convert_to_string, invalid, parse_type
from connect_core.api.config.types import NO_DEFAULT, ConfigType, Importance, Password, Width
from connect_core.api.config.validators import (
    CaseInsensitiveValidString,
    CompositeValidator,
    LambdaValidator,
    ListSize,
    NonEmptyString,
    NonEmptyStringWithoutControlChars,
    NonNullValidator,
    Range,
    Validator,
    ValidList,
    ValidString,
)

__all__ = [
    "NO_DEFAULT",
    "AbstractConfig",
    "CaseInsensitiveValidString",
    "ClassResolver",
    "CompositeValidator",
    "ConfigDef",
    "ConfigKey",
    "ConfigType",
    "ConfigValue",
    "Importance",
    "LambdaValidator",
    "ListSize",
    "NonEmptyString",
    "NonEmptyStringWithoutControlChars",
    "NonNullValidator",
    "Password",
    "Range",
    "Recommender",
    "ValidList",
    "ValidString",
    "Validator",
    "Width",
    "convert_to_string",
    "invalid",
    "parse_type",
]
