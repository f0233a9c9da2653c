"""Every step of the real worker's transcript against the API in Airflow's server.

In the browser's suite, as all of this folder: one stack serves them all. No test
before this one, by name, makes a connector: the transcript begins with an empty worker.
`python -m tests.deployments` replays against `connect rest` over Airflow as well.
"""

from __future__ import annotations

import pytest

from tests.deployments.stack import Deployments
from tests.rest.replaying import assert_replayed

pytestmark = [pytest.mark.browser, pytest.mark.servers, pytest.mark.timeout(900)]


def test_the_api_in_airflow_answers_as_the_real_worker(deployments: Deployments) -> None:
    header = f"Authorization: {deployments.header['Authorization']}"
    assert_replayed(deployments.mounted, deployments.folder / "mounted", header=header)
