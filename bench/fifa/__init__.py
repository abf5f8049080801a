r"""FiFA, the benchmark of SPEC D: agents whose memory has a budget, under each forgetting policy (`make fifa`).

`wordings` has the texts, `world` the messages and questions, `prepared` the parts that no policy changes. `living` is
an agent that lives through it by the product's own core, `voting` the members. `measures` has the metrics, `statistics`
their comparison, `runs` all cells on both cores, `tables` the rows, `directions` the checks of the benchmark itself,
`weighting` other weights of the composite, `command` and `page` the rest.
"""
