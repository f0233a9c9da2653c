"""A standalone worker beside the deployments over Airflow."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.conftest import context, page
from tests.deployments.stack import IN_VARIABLE, VARIABLE, Deployments, Standalone
from tests.integration.test_rest_transcript import address_of, await_answer
from tests.integration.test_standalone import standalone, write_worker

__all__ = ["context", "page"]


@pytest.fixture(scope="package")
def standalone_deployment(deployments: Deployments, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    """``connect standalone`` over the same broker, empty at first, with the providers of the other deployments."""
    folder = tmp_path_factory.mktemp("standalone")
    worker = write_worker(folder, deployments.stack.environment()["CONNECT_BOOTSTRAP_SERVERS"])
    with worker.open("a") as file:
        file.write(
            f"config.providers=env,file,dir\nconfig.providers.env.param.allowlist.pattern={VARIABLE}\n"
            f"config.providers.file.param.allowed.paths={deployments.folder}\n"
            f"config.providers.dir.param.allowed.paths={deployments.folder}\n"
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, IN_VARIABLE)
        with standalone(folder, worker):
            base = address_of(worker)
            await_answer(base)
            yield Standalone(base, folder)
