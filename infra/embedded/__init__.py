"""Runs Kafka brokers and a Postgres server from packages alone: no container, no installed server (DESIGN 1).

`kafka_broker` and `brokers`: one or several, from the `jars`; `certificates`: of clients; `postgres`; `processes`:
helpers of both.
"""
