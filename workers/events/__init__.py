"""The worker `events`: tells other people's tools what the journal says. It has no database, and no
key but the one that checks stamps.

`journal_events` reads the journal's topic, in order and each entry once; `mirror` writes its events to a topic.

`webhooks` serves a target of webhooks, one of the operator's `targets`: it tries `posting` until the event is taken, or
becomes a dead letter (`undelivered`). `signing` makes the headers; `checked_network` connects only to `addresses` that
a target may reach.
"""
