"""Replays what other policies and budgets would have kept of the memories that really came, and how many later reads
that serves (SPEC D).

A replay is a pure function of the topics' records; it has no effect on a running cluster. Modules, in reading order:

1. `events`: the events of a namespace, without content;
2. `vectors`: the embeddings of a namespace, for asking queries again, as integers;
3. `keepers`: keepers of memories under a budget: a policy, the fleet's own votes, an oracle;
4. `replaying`: replays one namespace under several settings in one pass, and counts;
5. `bounds`: the upper bound of any policy;
6. `report`: the namespaces together, the shares between random and the oracle, and the hash;
7. `leads`: how many more reads one policy served than another, beyond chance;
8. `choosing`: the policy and the shares that a history suggests, and their regret;
9. `chart`: the report as a picture;
10. `gathering`: reads a journal and a query log as events.
"""
