"""JSON to Connect's data, by message and by column."""
