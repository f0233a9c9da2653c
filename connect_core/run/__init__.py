"""A run: one lease holder runs a connector, interval after interval, with any task runner."""
