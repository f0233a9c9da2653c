"""Connect data as Avro bodies, one at a time and in columns."""
