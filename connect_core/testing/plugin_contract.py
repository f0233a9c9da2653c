"""The contract of every plugin: its class and its settings."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from connect_core.api.config import ConfigDef
from connect_core.errors import ConfigError

__all__ = ["PluginContract"]


class PluginContract:
    """Tests of a plugin's class and settings; the contracts of each kind add more.

    ``config`` is an example that works. The class is instantiated without arguments,
    as the engine does.
    """

    config: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def plugin(self) -> type[Any]:
        """Return the class under test."""
        raise NotImplementedError

    def framework_config(self) -> Mapping[str, str]:
        """Return the settings the engine adds to those of the user."""
        return {}

    def definition(self) -> ConfigDef:
        """Return the settings of the class under test."""
        definition = self.plugin()().config()
        assert isinstance(definition, ConfigDef), f"config() must return a ConfigDef, not {definition!r}"
        return definition

    def test_class_can_be_found_again(self) -> None:
        """A worker imports the class by its name, so it must not be defined inside a function."""
        plugin = self.plugin()
        assert pickle.loads(pickle.dumps(plugin)) is plugin
        assert isinstance(plugin(), plugin)

    def test_settings_are_documented(self) -> None:
        """Every setting that users see has a doc."""
        shown = [key for key in self.definition().sorted_keys() if not key.internal]
        bare = [key.name for key in shown if not (key.doc or "").strip()]
        assert bare == [], f"settings without doc: {bare}; give each a doc in its define(…)"
        text = self.definition().to_rst()
        assert all(f"``{key.name}``" in text for key in shown)

    def test_settings_are_always_the_same(self) -> None:
        """config() returns equal settings each time."""
        one, other = self.definition().config_keys(), self.definition().config_keys()
        assert list(one) == list(other)
        assert [key.default for key in one.values()] == [key.default for key in other.values()]

    def test_example_config_is_valid(self) -> None:
        """The example passes validation, and all its names and values are strings."""
        found = self.definition().validate({**self.framework_config(), **self.config})
        assert {one.name: one.error_messages for one in found if one.error_messages} == {}
        assert json.loads(json.dumps(dict(self.config))) == dict(self.config)

    def test_missing_settings_are_reported(self) -> None:
        """Validating an empty configuration reports each required setting and raises nothing."""
        definition = self.definition()
        found = {one.name: one.error_messages for one in definition.validate({})}
        required = [key.name for key in definition.config_keys().values() if not key.has_default]
        assert [name for name in required if not found.get(name)] == []

    def configured(self, *arguments: Any) -> Any:
        """Return an instance of a converter or a transform with the example's settings."""
        wanted = {**self.framework_config(), **self.config}
        plugin, given = self.plugin()(), dict(wanted)
        plugin.configure(given, *arguments)
        assert given == wanted, "configure() must not change the settings it is given"
        return plugin

    def refuses_nothing_given(self, *arguments: Any) -> None:
        """Check that a missing required setting raises ConfigError, and nothing else."""
        given = dict(self.framework_config())
        required = [key.name for key in self.definition().config_keys().values() if not key.has_default]
        if set(required) <= set(given):
            return
        try:
            self.plugin()().configure(given, *arguments)
        except ConfigError:
            return
        raise AssertionError(f"configure() must raise ConfigError when {required} are missing")
