"""Measures the quality of forgetting: `make bench WHAT=forget`. Read in this order:

1. `fleet`: the fleet in one process, of the core's own functions: salience, decay, nomination, ballots, tally;
2. `measures`: balanced accuracy, F1, areas, intervals;
3. `vectors`: embeddings, kept from run to run;
4. `meetings`, `items`, `whole`: AMI; `talks`: LoCoMo; `footprint`: 500 epochs; `sweep`: other constants;
5. `page`: docs/measured/forgetting-quality.md.
"""
