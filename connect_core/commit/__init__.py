"""Committing of intervals: a pure generator of effects from results to visible data."""
