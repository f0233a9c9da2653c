"""Between Avro's schemas and Connect's."""
