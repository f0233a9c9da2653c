"""Performs the effects of plan and commit on the store, on Kafka, and by the connectors' own code."""
