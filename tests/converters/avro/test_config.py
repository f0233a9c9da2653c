from __future__ import annotations

import pytest

from connect_core.api.config import ConfigDef, ConfigType
from connect_core.converters.avro.config import CONFIG, AvroSettings, define_avro
from connect_core.errors import ConfigError


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ({}, 1000),
        ({"schemas.cache.config": "5"}, 5),
        ({"schemas.cache.size": "6"}, 6),
        ({"schemas.cache.config": "5", "schemas.cache.size": "6"}, 6),
    ],
)
def test_size_of_the_cache_has_two_names(given: dict[str, str], size: int) -> None:
    assert AvroSettings.of(given).cache_size == size


def test_each_flag_is_a_setting_of_its_own() -> None:
    plain = AvroSettings.of({})
    flags = [name for name, key in CONFIG.config_keys().items() if key.type is ConfigType.BOOLEAN]
    changed = [AvroSettings.of({name: str(not CONFIG.config_keys()[name].default).lower()}) for name in flags]
    assert len(flags) == 8
    assert len({plain, *changed}) == 9


def test_bad_value_is_named() -> None:
    with pytest.raises(ConfigError, match=r"Invalid value maybe for configuration connect\.meta\.data"):
        AvroSettings.of({"connect.meta.data": "maybe"})


def test_settings_are_added_to_a_copy() -> None:
    base = ConfigDef().define("schema.registry.url", ConfigType.LIST, doc="Addresses.")
    both = define_avro(base)
    assert list(base.config_keys()) == ["schema.registry.url"]
    assert set(both.config_keys()) == {"schema.registry.url", *CONFIG.config_keys()}
