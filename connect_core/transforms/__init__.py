"""Single message transforms, one module each, registered in connect_core.registry; ``support`` has shared code."""
