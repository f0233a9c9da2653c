"""ConfigDef beyond the recorded cases."""

from __future__ import annotations

import pytest

from connect_core.api.config import (
    NO_DEFAULT,
    ConfigDef,
    ConfigType,
    Importance,
    ListSize,
    NonEmptyString,
    Password,
    Range,
    ValidList,
    Width,
)
from connect_core.errors import ConfigError, NotFoundError


def _definition() -> ConfigDef:
    return (
        ConfigDef()
        .define("port", ConfigType.INT, 80, validator=Range.between(1, 65_535), importance=Importance.LOW)
        .define("name", ConfigType.STRING, validator=NonEmptyString(), doc="who", group="Identity", width=Width.SHORT)
    )


def test_parse_fills_in_defaults() -> None:
    assert _definition().parse({"name": " x ", "other": "1"}) == {"port": 80, "name": "x"}


def test_required_setting_is_named() -> None:
    with pytest.raises(ConfigError, match='Missing required configuration "name"'):
        _definition().parse({"port": "1"})


def test_setting_is_defined_once() -> None:
    with pytest.raises(ConfigError, match="defined twice"):
        _definition().define("port", ConfigType.INT)


def test_default_is_checked_when_defined() -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        ConfigDef().define("a", ConfigType.INT, 0, validator=Range.at_least(1))


def test_copy_does_not_change_its_base() -> None:
    base = _definition()
    ConfigDef(base).define("more", ConfigType.STRING, None)
    assert base.names() == {"port", "name"}


def test_key_holds_what_was_defined() -> None:
    key = _definition().config_keys()["name"]
    assert (key.default, key.has_default, key.group, key.display_name) == (NO_DEFAULT, False, "Identity", "name")


def test_duplicates_of_a_list_are_dropped_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    definition = ConfigDef().define("a", ConfigType.LIST, validator=ValidList.any_non_duplicate_values(True, False))
    assert definition.parse({"a": "x,y,x"}) == {"a": ["x", "y"]}
    assert '"a" contains duplicates' in caplog.text


def test_embedded_list_refuses_duplicates_as_in_connect() -> None:
    child = ConfigDef().define("a", ConfigType.LIST, validator=ValidList.any_non_duplicate_values(True, False))
    definition = ConfigDef()
    definition.embed("p.", "Group", 0, child)
    with pytest.raises(ConfigError, match="Configuration 'a' values must not be duplicated"):
        definition.parse({"p.a": "x,x"})


def test_embedding_keeps_every_trait() -> None:
    definition = ConfigDef()
    definition.embed("p.", "Group", 3, _definition())
    key = definition.config_keys()["p.name"]
    assert (key.group, key.width, key.doc, key.display_name) == ("Group: Identity", Width.SHORT, "who", "name")
    assert [key.order for key in definition.sorted_keys()] == [3, 4]


def test_class_setting_finds_loaded_classes_only() -> None:
    definition = ConfigDef().define("c", ConfigType.CLASS)
    assert definition.parse({"c": "connect_core.errors.ConfigError"}) == {"c": ConfigError}
    for name in ("antigravity.Anything", "os.system", "nothing"):
        with pytest.raises(ConfigError, match="could not be found"):
            definition.parse({"c": name})


def test_class_setting_asks_its_resolver() -> None:
    def resolve(name: str) -> type:
        if name != "Known":
            raise NotFoundError(name)
        return int

    definition = ConfigDef(resolve=resolve).define("c", ConfigType.CLASS, "Known")
    assert ConfigDef(definition).parse({}) == {"c": int}
    with pytest.raises(ConfigError, match="Class Other could not be found"):
        definition.parse({"c": "Other"})


def test_validate_tells_of_every_setting() -> None:
    found = {value.name: value for value in _definition().validate({"port": "0"})}
    assert found["port"].error_messages == ["Invalid value 0 for configuration port: Value must be at least 1"]
    assert found["name"].error_messages == ['Missing required configuration "name" which has no default value.']


def test_password_is_never_shown() -> None:
    definition = ConfigDef().define("p", ConfigType.PASSWORD, "secret")
    parsed = definition.parse({})["p"]
    assert (parsed, str(parsed), repr(parsed)) == (Password("secret"), "[hidden]", "[hidden]")
    assert "secret" not in definition.to_html() + definition.to_rst()


@pytest.mark.parametrize(
    ("definition", "text"),
    [
        (ConfigDef().define("a", ConfigType.LIST, validator=ListSize.at_most_of_size(2)), "maximum of 2 elements"),
        (ConfigDef().define("a.ms", ConfigType.LONG, 60_000), "60000 (1 minute)"),
        (ConfigDef().define("a.bytes", ConfigType.INT, 2048), "2048 (2 kibibytes)"),
    ],
)
def test_documentation_shows(definition: ConfigDef, text: str) -> None:
    for rendered in (
        definition.to_html(),
        definition.to_html_table(),
        definition.to_rst(),
        definition.to_enriched_rst(),
    ):
        assert text in rendered


def test_internal_settings_are_not_documented() -> None:
    definition = ConfigDef().define("hidden", ConfigType.INT, 1, internal=True)
    assert "hidden" not in definition.to_html() + definition.to_rst() + definition.to_html_table()
    assert definition.parse({}) == {"hidden": 1}


def test_update_modes_are_shown() -> None:
    definition = ConfigDef().define("a", ConfigType.INT, 1).define("b", ConfigType.INT, 1)
    html = definition.to_html_table({"a": "cluster-wide"})
    assert "<th>Dynamic Update Mode</th>" in html
    assert html.index("cluster-wide") < html.index("read-only")
