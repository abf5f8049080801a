"""A genuine Kafka broker and a genuine Postgres out of packages alone: no container, no installed server (DESIGN 1).

`kafka` and `brokers`, one or several, from the `jars`; `certificates` for who logs in; `postgres`; `processes`:
what both need of the machine.
"""
