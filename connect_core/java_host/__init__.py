"""A child process that runs Connect's Java plugins, driven over pipes (README.md)."""
