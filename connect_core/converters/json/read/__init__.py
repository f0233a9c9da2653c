"""JSON to Connect's data, by single message and by column."""
