"""Long-running processes on plain Kafka clients."""
