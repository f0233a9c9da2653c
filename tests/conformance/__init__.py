"""Run cases recorded on Kafka Connect's own classes against connect-core's."""
