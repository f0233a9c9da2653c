"""JdbcSink: topics as tables, rows and positions in one transaction."""
