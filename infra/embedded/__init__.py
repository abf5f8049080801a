"""A genuine Kafka broker and a genuine Postgres out of packages alone: no container, no installed server (DESIGN 1)."""
