"""Connect's Java plugins as connect-core plugins: found in plugin.path, run in hosts (``java_host``)."""
