"""Commits intervals: a pure generator of effects that makes the results of tasks visible."""
