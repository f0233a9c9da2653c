"""A sink of another vendor: its keys, and the translation of its configuration to FileSystemSink."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from connect_core.api.config import NO_DEFAULT, ConfigDef, Password, convert_to_string
from connect_core.connectors.filesystem.aliases.key import Key, Treatment
from connect_core.connectors.filesystem.sink.config import CONFIG, FORMAT, PARTITIONER, PATH, definition_of

__all__ = ["Original", "Prefix"]

_TAKEN_OVER = frozenset((PATH, FORMAT, PARTITIONER))
"""Settings of ours that are covered by keys of every original."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """Keys with a common prefix, none of which is needed; ``why`` is logged once if one is given."""

    text: str
    why: str


@dataclass(frozen=True)
class Original:
    """The keys of one connector class.

    ``place``: a configuration → the URL to write to; ``place_key``: the key under which errors of the URL are reported.
    ``settings``: fixed settings of this class. ``derived``: settings that follow from several keys together.
    ``families``: prefixes of the original's keys, including those of unknown versions.
    """

    keys: tuple[Key, ...]
    place_key: str
    place: Callable[[Mapping[str, str]], str]
    settings: Mapping[str, str] = field(default_factory=dict)
    prefixes: tuple[Prefix, ...] = ()
    families: tuple[str, ...] = ()
    derived: Callable[[Mapping[str, str]], Mapping[str, str]] = lambda config: {}

    @cached_property
    def definition(self) -> ConfigDef:
        """The keys of the original, then the settings of ours for which it has no key."""
        definition = ConfigDef()
        for key in self.keys:
            traits = {"validator": key.validator, "importance": key.importance, "doc": key.text}
            definition.define(key.name, key.type, key.default, **traits)  # type: ignore[arg-type]
        for own in CONFIG.config_keys().values():
            if own.name not in definition.config_keys() and own.name not in _TAKEN_OVER:
                definition.define_key(own)
        return definition

    def translated(self, config: Mapping[str, str]) -> dict[str, str]:
        """Return the configuration of FileSystemSink. Raises ConfigError naming key, value and remedy."""
        self.definition.parse(config)
        names = {key.name for key in self.keys}
        given = {name: value for name, value in config.items() if name not in names}
        read = dict(self.settings)
        for key in self.keys:
            value = config.get(key.name, _default(key))
            if value is not None:
                read.update(key.read(value))
        completed = self._completed(config)
        return {**read, **self.derived(completed), **given, PATH: self.place(completed)}

    def notices(self, config: Mapping[str, str]) -> list[str]:
        """Return a sentence for each given key that has no effect, or less than in its vendor's sink.

        The configuration is valid.
        """
        whys = {key.name: key.doc for key in self.keys if key.treatment is Treatment.UNNEEDED}
        known = {key.name for key in self.keys}
        for name in config:
            prefix = next((one for one in self.prefixes if name.startswith(one.text)), None)
            if prefix is not None and name not in known:
                whys[name] = prefix.why
        # A part from another wheel has keys of its own.
        defined = self.definition.names() | definition_of(self.translated(config)).names()
        for name in sorted(config.keys() - defined - whys.keys()):
            if name.startswith(self.families):
                whys[name] = "this key is not known here and has no effect"
        hints = (key.hint(config, key.name) for key in self.keys if key.name in config)
        return [
            *(f"{name} is not needed here: {why}" for name, why in whys.items() if name in config),
            *filter(None, hints),
        ]

    def source_of(self, config: Mapping[str, str], name: str) -> str:
        """Return the key that a setting of ours was translated from; ``place_key`` if there is none."""
        if name in self.definition.names():
            return name
        found = (key.name for key in self.keys if key.name in config and name in key.read(config[key.name]))
        return next(found, self.place_key)

    def _completed(self, config: Mapping[str, str]) -> Mapping[str, str]:
        defaults = {key.name: value for key in self.keys if (value := _default(key)) is not None}
        return {**defaults, **config}


def _default(key: Key) -> str | None:
    """Return the default as written in a configuration, ``None`` if there is none."""
    if key.default is NO_DEFAULT or isinstance(key.default, Password):
        return None
    return key.default if isinstance(key.default, str) else convert_to_string(key.default, key.type)
