"""Connect's own scenarios, told over REST to Apache Kafka Connect and to ours; the results stand side by side."""
