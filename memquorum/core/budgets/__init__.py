"""The memories that go first where a namespace holds more tokens than its budget (SPEC D, MaRS 3.2.6 to 3.4). Modules,
in reading order:

1. `items`: a living memory as a policy sees it; its features ψ, utility Û and score;
2. `orders`: the data structures, each an order of eviction that is kept up to date; `lots`: the draws among near-ties,
   and their costs;
3. `rules`: the policies by name, each made of orders;
4. `ledger`: a namespace's memories, its weight, and the plan of evictions until it fits its budget;
5. `limits`: the budget of a namespace; `weighing`: makes an item from a store's rows of a memory;
6. `claims`: the claims of a proposal about its budget, and their check; `outlived`: memories that go whatever else
   their namespace holds;
7. `least`: the places of memories in a member's own order; `at_once`: that order, for all memories at one time;
   `lazily`: the same places, from the beginning of an order that is kept by `sort_keys`; `evictions`: how both take
   what goes; `beginning`: as much of such an order as a ledger needs for one plan; `due_statements`: how SQLite keeps
   an order.

A policy nominates; members vote. A nomination, a preview, a replay of one's own topics and a benchmark use the same
Ledger:

    ledger = Ledger("worth", policy.budget)
    ledger.put(Item("a", "episodic", tokens=12, created=0, last_access=0))
    plan = ledger.plan(50_000, as_of, most=100)  # looks; evict(…) is the same and takes out what goes
    plan.goes, plan.replaces, plan.held, plan.over, plan.excess

Put a memory again after it was read, kept by a vote (protected=RESTING) or changed in any other way; remove it when it
is gone. The code is pure, uses integers, and gives the same results on every machine.
"""
