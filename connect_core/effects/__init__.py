"""Performs the effects of plan and commit: store, Kafka, and the connectors' own code."""
