"""One TaskPlan to one TaskResult, on a Spark worker: no database, no framework but Kafka's client."""
