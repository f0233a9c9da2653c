from pathlib import Path

import pytest

from connect_core.dev.jars import kafka_jars
from connect_core.dev.maven import maven_mirror
from connect_core.errors import ConnectError

_MIRROR = """<settings xmlns="http://maven.apache.org/SETTINGS/1.0.0"><mirrors>
<mirror><id>a</id><mirrorOf>{pattern}</mirrorOf><url>https://mirror.example/maven</url></mirror></mirrors></settings>"""


@pytest.mark.parametrize("pattern", ["central", "*", "external:*", "other, central"])
def test_mirror_of_central_is_used(tmp_path: Path, pattern: str) -> None:
    file = tmp_path / "settings.xml"
    file.write_text(_MIRROR.format(pattern=pattern))
    assert maven_mirror(file) == "https://mirror.example/maven"


@pytest.mark.parametrize("pattern", ["other", "external:http:*"])
def test_mirror_of_others_is_not(tmp_path: Path, pattern: str) -> None:
    file = tmp_path / "settings.xml"
    file.write_text(_MIRROR.format(pattern=pattern))
    assert maven_mirror(file) is None


def test_mirror_without_settings_is_none(tmp_path: Path) -> None:
    assert maven_mirror(tmp_path / "settings.xml") is None


def test_settings_that_are_not_xml_are_named(tmp_path: Path) -> None:
    file = tmp_path / "settings.xml"
    file.write_text("<settings>")
    with pytest.raises(ConnectError, match=f"{file} is not well-formed XML"):
        maven_mirror(file)


@pytest.mark.servers
def test_jars_without_network_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONNECT_CACHE", str(tmp_path))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    with pytest.raises(ConnectError, match=r"could not be downloaded .* check the network"):
        kafka_jars(lambda line: None)
    assert not list(tmp_path.glob("*/complete"))
