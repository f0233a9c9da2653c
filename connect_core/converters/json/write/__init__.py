"""Connect's data to JSON, by single message and by column."""
