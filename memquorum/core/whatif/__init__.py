"""What other policies and budgets would have kept of what really came, and what of it was read later (SPEC D).

A replay is a pure function of what the topics hold; it has no effect on a running cluster. Read in this order:

1. `events`: what happened in a namespace, without content;
2. `vectors`: the embeddings of a namespace, by which queries are asked again, in whole numbers;
3. `keepers`: what holds memories under a budget: a policy, the fleet's own votes, an oracle;
4. `replaying`: one namespace under several settings in one pass, and what is counted;
5. `bounds`: what no policy could exceed;
6. `report`: the namespaces together, the shares between random and the oracle, and the hash;
7. `leads`: by how much one policy served more than another, beyond chance;
8. `choosing`: which policy and which shares a history suggests, and with which regret;
9. `chart`: the report as a picture;
10. `gathering`: what a journal and a query log tell, as events.
"""
