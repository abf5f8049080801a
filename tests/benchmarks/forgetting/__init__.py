"""How well the members forget: `make bench WHAT=forget`. Read in this order:

1. `fleet`: the line in one process, of the core's own functions: salience, decay, nomination, ballots, tally;
2. `measures`: balanced accuracy, F1, areas, intervals;
3. `vectors`: embeddings, kept from run to run;
4. `meetings`, `items`, `whole`: AMI; `talks`: LoCoMo; `footprint`: 500 epochs;
5. `page`: docs/forgetting-quality.md.
"""
