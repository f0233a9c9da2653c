"""Environment variables as worker keys."""

from __future__ import annotations

from connect_core.settings.environment import variables_to_properties


def test_variables_spell_keys() -> None:
    environment = {
        "CONNECT_GROUP_ID": "g",
        "CONNECT_PRODUCER_X__Y": "underscore",
        "CONNECT_PRODUCER_X___Y": "dash",
        "CONNECT_HOME": "ours, but no key",
        "GROUP_ID": "not ours",
    }
    found = variables_to_properties(environment, lambda key: key == "group.id" or key.startswith("producer."))
    assert found == {"group.id": "g", "producer.x_y": "underscore", "producer.x-y": "dash"}
