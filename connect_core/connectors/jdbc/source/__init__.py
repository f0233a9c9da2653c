"""JdbcSource: rows of tables or of a query into Kafka."""
