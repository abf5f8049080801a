"""The audit reads the topics of a cluster from their beginning and holds Postgres against them."""
