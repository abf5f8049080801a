"""The consolidator: makes summaries of sessions that are over, and publishes them like any agent (SPEC C).

`worker` reads which sessions are over, and keeps its place in its group; `making` turns the memories of one into
summaries, by a summariser: `extractive`, which takes sentences as they are, or `model`, which asks an endpoint
(`chat`) and has a `budget` of tokens; `disclosing` says beforehand whose text is sent, and `beside` keeps the place
in the group meanwhile. `yielding` makes sessions wait while ingest is behind. `rule_summaries` names the memory that
a rule fails on. `parked`: sessions of which it made nothing, and that are tried again. The members decide on the
summaries. `rollup_upkeep` keeps what is said of one thing across sessions up to date, beside it, and publishes the
general forms that `generalising` makes of what experience promoted; `publishing`: in whose name all of it is said,
`published`: what the store has to know of before a session is read again. `compareloop` follows the journal and asks
the endpoint which statements of older memories a newer one overtakes (`comparison_turn`). `opening` opens what rests
sealed because of a summary that was erased, so that one is made anew of it.
"""
