"""The common part of sinks to table formats: choosing a record's table, and fitting rows to its columns."""
