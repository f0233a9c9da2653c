"""A sink of another maker: its keys, and how a configuration of it reads as one of FileSystemSink."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from connect_core.api.config import NO_DEFAULT, ConfigDef, Password, convert_to_string
from connect_core.connectors.filesystem.aliases.key import Key, Treatment
from connect_core.connectors.filesystem.sink.config import CONFIG, FORMAT, PARTITIONER, PATH

__all__ = ["Original", "Prefix"]

_TAKEN_OVER = frozenset((PATH, FORMAT, PARTITIONER))
"""Settings of ours that keys of every original stand for."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """Keys that begin alike, none of which is needed; ``why`` is told once where one is given."""

    text: str
    why: str


@dataclass(frozen=True)
class Original:
    """The keys of one connector class.

    ``place``: a configuration → the URL to write to; ``place_key`` is the key that mistakes in it are told under.
    ``settings``: what is always so under this class. ``derived``: what follows from several keys together.
    ``families``: how keys of the original begin, also those of versions not known here.
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
        """The keys of the original, then the settings of ours that it has no key for."""
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
        """Return a sentence for each given key that changes nothing, or less than its maker's does."""
        whys = {key.name: key.doc for key in self.keys if key.treatment is Treatment.UNNEEDED}
        known = {key.name for key in self.keys}
        for name in config:
            prefix = next((one for one in self.prefixes if name.startswith(one.text)), None)
            if prefix is not None and name not in known:
                whys[name] = prefix.why
        for name in sorted(config.keys() - self.definition.names() - whys.keys()):
            if name.startswith(self.families):
                whys[name] = "it is no key that is known here, and changes nothing"
        hints = (key.hint(config, key.name) for key in self.keys if key.name in config)
        return [
            *(f"{name} is not needed here: {why}" for name, why in whys.items() if name in config),
            *filter(None, hints),
        ]

    def source_of(self, config: Mapping[str, str], name: str) -> str:
        """Return the key of a configuration that became a setting of ours; ``place_key`` if there is none such."""
        if name in self.definition.names():
            return name
        found = (key.name for key in self.keys if key.name in config and name in key.read(config[key.name]))
        return next(found, self.place_key)

    def _completed(self, config: Mapping[str, str]) -> Mapping[str, str]:
        defaults = {key.name: value for key in self.keys if (value := _default(key)) is not None}
        return {**defaults, **config}


def _default(key: Key) -> str | None:
    """Return the default as a configuration would write it, ``None`` where there is none."""
    if key.default is NO_DEFAULT or isinstance(key.default, Password):
        return None
    return key.default if isinstance(key.default, str) else convert_to_string(key.default, key.type)
