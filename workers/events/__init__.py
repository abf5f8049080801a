"""The worker `events`: tells other people's tools what the journal says. It has no database, and no
key but the one that checks stamps.

`journal_events` reads the journal's topic, in order and each entry once; `mirror` writes its events to a topic.
"""
