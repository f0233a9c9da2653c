"""Converters between Connect data and the bytes in Kafka, one module per format."""
