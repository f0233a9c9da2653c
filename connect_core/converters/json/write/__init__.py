"""Connect's data to JSON, by message and by column."""
