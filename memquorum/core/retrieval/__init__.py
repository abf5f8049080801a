"""The read side. Read in this order:

1. `query` and `requests`: the requests that may be made, and their results; `filing`: conditions on path and
   attributes; `bounds`: the limits of load. `query.passes` decides what a reader may see, as `$gates` of
   db/sql_fragments does in the store;
2. statements of db/queries.sql alone decide what `search` finds, `workers.retrieval.pipeline` in which order it is
   served; `cache` keeps the vectors that are used most, and `repeated` decides whether an answer may be given
   again;
3. the steps of `retrieve`: `wording` chooses the words to look up, `fusion` joins two rankings, `ranking` adds strength
   and tier, `diffusion` general forms of other namespaces, `hops` the memories that the first hits name. `packing` fits
   the ranking into a budget, with `pieces` of summaries. `folding` serves the same text once. `past` orders hits by the
   time that a question asks about, and `replaced` adds replaced memories. `alike` moves near-duplicates behind the
   rest. `scoring` estimates how likely a hit answers; `recall` finds the surroundings of a memory, `walking` what it is
   related to, `entities` what has the same names; `conflicts` serves contradicting memories together, `overtaken` names
   the statements concerned. `rereading` puts those of the best hits first that answer; `supports` never serves a
   summary together with its sources; `rollups`: the statements on one topic, or on what a question names; `listing`:
   all memories that pass, page by page, and as a `graph`; `using`: the uses that a reader reports;
4. `buffer`, `working`: the latest memories of an agent, and the content of a prompt, by `quotas`; `context`: the
   requests for it;
   `redaction`: the masking of texts;
5. `paging`: a page of any list, and the cursor of the next one.

`core.accounts` makes the texts that people read about one memory, a vote, an order or a session.
"""
