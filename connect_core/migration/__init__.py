"""Moving over from Kafka Connect and back: import, switch, export, and folders of connectors applied as a whole."""
