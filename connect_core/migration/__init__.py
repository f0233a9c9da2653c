"""Moving from Kafka Connect and back: import, switch, export, and applying folders of connectors."""
