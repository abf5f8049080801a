"""The audit log and what it does to the store. Read in this order:

1. `links`: one entry's place in the hash chain;
2. `rows`: the state of a shard, field for field the tables of the store, which `tables` declares;
3. `effects`: what each entry does to the rows, one rule per effect. The larger rules stand by themselves:
   `decisions`, `erasures`, `protections`, `restores`, `repetitions`, `rehearsals`, `conflicts`, `comparing`,
   `linked`, `slots`, `patching`, `finished`, `trials`, `weighing`, `uniting`, `generals`, `rollbacks`; `contexts`: what
   a trial of a finished task reads; `grounds`: what a memory rests on and what denies it, for `rehearsals`;
   `resting`: how long what was kept is left alone; `rewards`: what agents are given;
4. `workset`: a batch of changes, each seen by the next; `loaded`: a row that was not loaded is no row that is not
   there;
5. `naming`: what an order to erase takes; `anew`: which summaries among that are made anew of what is left;
   `tombstones`: what it keeps out afterwards; `disclosures`: what left the house, and to whom;
   `withheld`: which orders have to be given again;
6. `recall`: where the entries tell what a sealed memory was;
7. `replay` and `digest`: the same rows again from the journal and the topics, and their fingerprint.
"""
