"""What all processes share: Kafka clients with safe settings, reading of topics and groups."""
