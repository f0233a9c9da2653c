"""Connect's Java plugins as plugins of ours: found in plugin.path, run in hosts (``java_host``)."""
