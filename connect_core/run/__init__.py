"""A run: one holder works off a connector, interval after interval, whatever runs its tasks."""
