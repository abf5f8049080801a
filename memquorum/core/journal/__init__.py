"""The audit log and what it does to the store. Read in this order:

1. `links`: one entry's place in the hash chain;
2. `rows`: the state of a shard, field for field the tables of the store;
3. `effects` and `decisions`: what each entry does to the rows, one rule per effect;
4. `workset`: a batch of changes, each seen by the next;
5. `naming`: what an order to erase takes; `tombstones`: what it keeps out afterwards; `withheld`: which orders have
   to be given again;
6. `recall`: where the entries tell what a sealed memory was;
7. `replay` and `digest`: the same rows again from the journal and the topics, and their fingerprint.
"""
