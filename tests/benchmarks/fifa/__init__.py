"""FiFA, the benchmark of SPEC D: agents whose memory has a budget, under each policy that says what goes (`make fifa`).

`wordings` has the texts, `world` what is said and asked, `living` an agent that lives through it with the product's own
core, `measures` the metrics, `statistics` how they are compared, `runs` all cells on both cores, `command` and `page`
the rest.
"""
