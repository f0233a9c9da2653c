"""Runs one TaskPlan to one TaskResult, on a Spark worker: uses no database, and no framework but Kafka's client."""
