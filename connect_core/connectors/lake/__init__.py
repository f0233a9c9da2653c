"""What sinks of table formats have in common: which table a record goes to, and rows fitted to a table's columns."""
