"""Lists cost a constant number of SQL statements, however many connectors there are."""

from __future__ import annotations

import pytest

from tests.benchmarks.rest import fill, statements
from tests.herder.harness import Harness
from tests.rest.conftest import Client

COUNTS = {
    "/connectors": 1,
    "/connectors/connector-0001/status": 4,
    "/connectors?expand=status": 3,
    "/connectors?expand=status&expand=info": 3,
    "/v1/connectors": 7,
    "/v1/connectors/connector-0001": 8,
    "/v1/metrics": 7,
}


@pytest.mark.parametrize("connectors", [2, 30])
def test_number_of_statements_is_constant(harness: Harness, call: Client, connectors: int) -> None:
    fill(harness.database, connectors, 3)
    found = {}
    for path in COUNTS:
        with statements(harness.database) as seen:
            assert call("GET", path).status == 200
        found[path] = len([one for one in seen if one.startswith(("SELECT", "WITH"))])
    assert found == COUNTS
