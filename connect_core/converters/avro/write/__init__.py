"""Connect data to Avro bodies, one at a time and in columns."""
