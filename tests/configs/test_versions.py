"""Plugin versions asked for."""

from __future__ import annotations

import pytest

from connect_core.configs.versions import VersionValidator, ensure_version, is_version_matched
from connect_core.errors import ConfigError
from connect_core.registry import Plugin


@pytest.mark.parametrize(
    ("requirement", "is_matched"),
    [
        ("4.3.1", True),
        ("latest", True),
        ("[4.3.1]", True),
        ("[4.0,5.0)", True),
        ("[4.3.1,4.3.1]", True),
        ("(,5)", True),
        ("[4.3.10,)", False),
        ("(4.3.1,)", False),
        ("[1,2],[4,5]", True),
        ("4.3", False),
        ("9.9.9", False),
    ],
)
def test_version_is_matched(requirement: str, is_matched: bool) -> None:
    assert is_version_matched("4.3.1", requirement) is is_matched


def test_missing_version_is_told_like_connect() -> None:
    plugin = Plugin("org.acme.Source", "source", "4.3.1", "acme:Source")
    with pytest.raises(ConfigError) as caught:
        ensure_version(plugin, "9.9.9")
    assert str(caught.value) == (
        "Plugin org.acme.Source not found that matches the version range [9.9.9,9.9.9], available versions: [4.3.1]"
    )


def test_malformed_range_is_refused() -> None:
    VersionValidator().ensure_valid("connector.plugin.version", None)
    with pytest.raises(ConfigError, match="Write one version, or a range"):
        VersionValidator().ensure_valid("connector.plugin.version", "[1,2")
