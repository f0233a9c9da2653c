"""AbstractConfig: getters, prefixes, what was used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Password, Range
from connect_core.errors import ClassCastError, ConfigError, ConnectError


class Sample:
    """A class a setting may name."""

    def configure(self, configs: Mapping[str, Any]) -> None:
        self.configs = dict(configs)


DEFINITION = (
    ConfigDef()
    .define("int", ConfigType.INT, 1, validator=Range.at_least(0))
    .define("double", ConfigType.DOUBLE, 0.5)
    .define("flag", ConfigType.BOOLEAN, True)
    .define("text", ConfigType.STRING, None)
    .define("list", ConfigType.LIST, "a,b")
    .define("secret", ConfigType.PASSWORD, "s")
    .define("class", ConfigType.CLASS, Sample)
    .define("inner", ConfigType.INT, 7, internal=True)
)


def _config(**originals: Any) -> AbstractConfig:
    return AbstractConfig(DEFINITION, originals)


def test_getters_return_parsed_values() -> None:
    config = _config(int="5")
    assert (config.get_int("int"), config.get_long("int"), config.get_short("int")) == (5, 5, 5)
    assert (config.get_double("double"), config.get_boolean("flag"), config.get_string("text")) == (0.5, True, None)
    assert (config.get_list("list"), config.get_password("secret")) == (["a", "b"], Password("s"))
    assert config.get_class("class") is Sample


@pytest.mark.parametrize(("getter", "name"), [("get_int", "flag"), ("get_string", "int"), ("get_list", "text2")])
def test_getter_of_another_type_is_refused(getter: str, name: str) -> None:
    with pytest.raises((ClassCastError, ConfigError)):
        getattr(_config(), getter)(name)


def test_unused_settings_are_those_never_read() -> None:
    config = _config(int="5", text="x", other="y", more="z")
    config.get_int("int")
    config.ignore("more")
    assert config.originals()["other"] == "y"
    assert config.unused() == {"text"}


def test_log_unused_names_them(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        _config(other="y").log_unused()
    assert "other" in caplog.text


def test_originals_with_prefix() -> None:
    config = AbstractConfig(DEFINITION, {"a.b": "1", "a.": "2", "c": "3"})
    assert config.originals_with_prefix("a.") == {"b": "1"}
    assert config.originals_with_prefix("a.", strip=False) == {"a.b": "1"}
    assert config.originals_with_prefix("a.")["b"] == "1"
    assert config.unused() == {"a.", "c"}


def test_values_with_prefix_override() -> None:
    config = AbstractConfig(DEFINITION, {"int": "1", "p.int": "2", "p.x.double": "3"})
    values = config.values_with_prefix_override("p.")
    assert (values["int"], values["double"], values["x.double"]) == (2, 0.5, 3.0)
    with pytest.raises(ConfigError, match="at least 0"):
        AbstractConfig(DEFINITION, {"p.int": "-1"}).values_with_prefix_override("p.")


def test_values_with_prefix_all_or_nothing() -> None:
    config = AbstractConfig(DEFINITION, {"int": "1", "p.double": "3"})
    assert config.values_with_prefix_all_or_nothing("p.") == {"double": 3.0}
    assert config.values_with_prefix_all_or_nothing("q.")["int"] == 1


def test_originals_strings_refuses_other_values() -> None:
    with pytest.raises(ClassCastError, match="Non-string value found in original settings for key int"):
        _config(int=5).originals_strings()
    assert _config(int="5").originals_strings() == {"int": "5"}


def test_internal_values_are_left_out() -> None:
    assert "inner" in _config().values()
    assert "inner" not in _config().non_internal_values()


def test_configured_instance_gets_the_originals() -> None:
    made = _config(int="5").get_configured_instance("class", Sample, {"more": 1})
    assert made is not None
    assert made.configs == {"int": "5", "more": 1}
    with pytest.raises(ConnectError, match="is no"):
        _config().get_configured_instance("class", int)


def test_post_processing_changes_values() -> None:
    class Doubling(AbstractConfig):
        def post_process_parsed_config(self, parsed: Mapping[str, Any]) -> Mapping[str, Any]:
            return {"int": parsed["int"] * 2}

    assert Doubling(DEFINITION, {"int": "4"}).get_int("int") == 8


def test_unknown_setting_is_refused() -> None:
    with pytest.raises(ConfigError, match="Unknown configuration 'nope'"):
        _config().get("nope")


def test_type_and_documentation_of_settings() -> None:
    assert _config().type_of("int") is ConfigType.INT
    assert _config().type_of("nope") is None
    assert _config().documentation_of("int") == ""


def test_configs_are_equal_by_what_was_given() -> None:
    assert _config(int="5") == _config(int="5")
    assert _config(int="5") != _config(int=5)
    assert hash(_config(int="5")) == hash(_config(int="5"))
