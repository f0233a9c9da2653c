"""The broker that tests/kafka starts."""

from tests.kafka.conftest import cluster

__all__ = ["cluster"]
