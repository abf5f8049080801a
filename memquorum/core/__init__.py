"""The pure core: no input or output, no clock, no randomness, no environment. All of these are arguments.

The foundations:

- `contained`: rules over texts, where one that raises spoils its own answer alone; `kept`: what was used last, as far
  as there is room; `late_numpy`: NumPy, imported on first use;
- `records`: what crosses a topic; `avro` and `jsontext`: how it is written and read, into types that are
  `prepared` for threads; `ids`, `names` and `moments`; `reading`: words and what texts say by them; `showing`: how
  texts are shown;
- `policy`: every number that decides a memory's fate, and `rules` for numbers; `tiers`; `facets` and `merging`:
  what holds for the use of a memory; `linking`: what it is linked with; `labelling`: what it is filed under,
  and `payloads`: the fields of its type; `caps`: how much of a namespace may be forgotten;
- `privacy`: what a text holds of persons and secrets, and the sensitivity that suggests; `templates`: ages and purposes
  by law and department;
- `sealing`: content under a memory's own key; `letters`: refused records under theirs; `asked`: queries under
  their askers';
- `identity`: who is who; `shard_ranges`: which process has which shards; `access`: what an API key may do;
  `authorship`: what agents signed.

Then the life of a memory, stage by stage: `intake`, with `framing` and `enveloped` for what bytes are, `reasons` why
it refuses, `quota` and `stock` for limits of namespaces, and `fairness` for their turns; `orders`; `salience`, with
`neighbourhood` and `summed` for what an episode is compared with, `exact` for what is said byte for byte again,
`denying` for the statements that it denies, `worth`, and `learning` from what was used; `decay` and `triage`;
`budgets`: what goes first where a namespace holds more tokens than it may;
`consolidation`: what a session leaves when it is over; `experience`: what has shown that it helps; `vote`;
`consensus`; `journal`; `commit`. And what is asked of it: `audit`, `retrieval`, `accounts`: what people read of
memories, votes and orders, `rehearsal`, `whatif` of other policies, and `api` for both sides of HTTP.

The rooms stand in floors, and nobody imports upwards (infra/decisions/0052, `tests/unit/test_floors.py`).
"""
