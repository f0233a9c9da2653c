"""The routes of Connect's API, one resource per module."""
