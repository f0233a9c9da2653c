from __future__ import annotations

from pathlib import Path

from connect_core import schema_registry
from connect_core.api.config import ConfigDef
from connect_core.schema_registry.settings import define_registry
from tests.connectors.test_readme import key_table


def test_readme_has_the_keys_of_the_definition() -> None:
    readme = (Path(schema_registry.__file__).parent / "README.md").read_text()
    assert key_table(define_registry(ConfigDef())) in readme
