"""Kafka Connect as bounded, orchestrated ingestion."""
