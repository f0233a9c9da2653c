"""The command ``connect``."""
