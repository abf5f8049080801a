"""FiFA, the benchmark of SPEC D: agents whose memory has a budget, under each policy that says what goes (`make fifa`).

`wordings` has the texts, `world` what is said and asked, `prepared` what no policy changes of it, `living` an agent
that lives through it by the product's own core, `voting` the members, `measures` the metrics, `statistics` how they are
compared, `runs` all cells on both cores, `tables` the rows, `command` and `page` the rest.
"""
