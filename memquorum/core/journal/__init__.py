"""The audit log and what it does to the store. Read in this order:

1. `hash_chain`: one entry's place in the hash chain;
2. `rows`: the state of a shard, field for field the tables of the store, which `tables` declares;
3. `effects`: the effect of each entry on the rows, one rule per effect. The larger rules have modules of their own:
   `decisions`, `erasures`, `protections`, `inheriting`, `restores`, `repetitions`, `rehearsals`, `conflicts`,
   `comparing`, `link_rows`, `slots`, `patching`, `finished`, `trials`, `weighing`, `uniting`, `generals`,
   `rollbacks`; `contexts`: the context of a finished task for a trial; `grounds`: the sources and contradictions of a
   memory, for `rehearsals`; `resting`: how long a kept memory is not proposed again; `rewards`: the rewards of agents;
4. `workset`: a batch of changes, each visible to the next; `loaded`: tells rows that were not loaded from rows that do
   not exist;
5. `naming`: the memories that an order to erase covers; `anew`: which erased summaries are written again from the
   remaining memories; `tombstones`: late episodes that stay out; `disclosures`: texts sent to recipients;
   `withheld`: orders that must be given again;
6. `recall`: the former state of a sealed memory, from its entries;
7. `replay` and `digest`: rebuilds the rows from the journal and the topics, and compares their digest.
"""
