"""The audit log and what it does to the store. Read in this order:

1. `links`: one entry's place in the hash chain;
2. `rows`: the state of a shard, field for field the tables of the store;
3. `effects` and `decisions`: what each entry does to the rows, one rule per effect;
4. `workset`: a batch of changes, each seen by the next;
5. `replay` and `digest`: the same rows again from the journal and the topics, and their fingerprint.
"""
