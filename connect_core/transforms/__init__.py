"""Single message transforms, one module each, named in connect_core.registry; ``support`` is what they share."""
